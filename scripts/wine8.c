// What Go programs want of Windows and Wine 8, Debian 12's, does not have, as the bcryptprimitives.dll that it lacks
// and that each of them loads at its start (scripts/under-wine puts it there).
#include <string.h>
#include <windows.h>

// Random numbers come from there.
BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG count); // RtlGenRandom
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count) { return SystemFunction036(bytes, (ULONG)count); }

// os.RemoveAll asks for a deletion as Windows has it since 2016, or else the older one, if the answer is the one that
// an older Windows gives. Wine gives another answer.
typedef LONG(NTAPI *set_information)(HANDLE, PVOID, PVOID, ULONG, ULONG);
static set_information before;

static LONG NTAPI set_or_refuse(HANDLE file, PVOID status, PVOID data, ULONG bytes, ULONG class) {
	enum { DISPOSITION_EX = 64 };
	return class == DISPOSITION_EX ? (LONG)0xC0000003 /* STATUS_INVALID_INFO_CLASS */ : before(file, status, data, bytes, class);
}

// The call is 32 bytes of code that runs at any address: it moves, and a jump takes its place.
BOOL WINAPI DllMain(HINSTANCE dll, DWORD reason, PVOID reserved) {
	(void)dll, (void)reserved;
	if (reason != DLL_PROCESS_ATTACH) return TRUE;
	enum { SIZE = 32 };
	unsigned char jump[12] = {0x48, 0xb8, [10] = 0xff, 0xe0}; // mov rax, address; jmp rax
	set_information to = set_or_refuse;
	memcpy(jump + 2, &to, sizeof to);
	void *call = (void *)GetProcAddress(GetModuleHandleA("ntdll.dll"), "NtSetInformationFile");
	void *moved = VirtualAlloc(NULL, SIZE, MEM_RESERVE | MEM_COMMIT, PAGE_EXECUTE_READWRITE);
	DWORD old;
	if (!call || !moved || !VirtualProtect(call, SIZE, PAGE_EXECUTE_READWRITE, &old)) return FALSE;
	memcpy(moved, call, SIZE);
	before = (set_information)moved;
	memcpy(call, jump, sizeof jump);
	return VirtualProtect(call, SIZE, old, &old);
}
