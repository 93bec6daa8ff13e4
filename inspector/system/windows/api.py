"""The functions of Windows that Python does not have, with their types."""

from __future__ import annotations

import ctypes
import sys
from ctypes import wintypes

assert sys.platform == "win32"

INVALID_HANDLE = wintypes.HANDLE(-1).value
DWORD, HANDLE, BOOL = wintypes.DWORD, wintypes.HANDLE, wintypes.BOOL
LPCWSTR, LPVOID = wintypes.LPCWSTR, wintypes.LPVOID
SIZE_T = ctypes.c_size_t


class Overlapped(ctypes.Structure):
    """`OVERLAPPED`: the position of a read, a write or a lock."""

    _fields_ = (
        ("internal", SIZE_T),
        ("internal_high", SIZE_T),
        ("offset", DWORD),
        ("offset_high", DWORD),
        ("event", HANDLE),
    )

    @classmethod
    def at(cls, offset: int) -> Overlapped:
        """Return the position `offset`."""
        return cls(0, 0, offset & 0xFFFFFFFF, offset >> 32, None)


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("flags", DWORD),
        ("least_working_set", SIZE_T),
        ("most_working_set", SIZE_T),
        ("active_processes", DWORD),
        ("affinity", SIZE_T),
        ("priority", DWORD),
        ("scheduling", DWORD),
    )


class JobLimits(ctypes.Structure):
    """`JOBOBJECT_EXTENDED_LIMIT_INFORMATION`."""

    _fields_ = (
        ("basic", _BasicLimits),
        ("counters", ctypes.c_uint64 * 6),
        ("process_memory", SIZE_T),
        ("job_memory", SIZE_T),
        ("most_process_memory", SIZE_T),
        ("most_job_memory", SIZE_T),
    )


class JobFigures(ctypes.Structure):
    """`JOBOBJECT_BASIC_ACCOUNTING_INFORMATION`; times are in units of 100 ns."""

    _fields_ = (
        ("user", ctypes.c_int64),
        ("kernel", ctypes.c_int64),
        ("period_user", ctypes.c_int64),
        ("period_kernel", ctypes.c_int64),
        ("page_faults", DWORD),
        ("processes", DWORD),
        ("active", DWORD),
        ("terminated", DWORD),
    )


class MemoryFigures(ctypes.Structure):
    """`PROCESS_MEMORY_COUNTERS`."""

    _fields_ = (
        ("size", DWORD),
        ("page_faults", DWORD),
        ("peak", SIZE_T),
        ("working_set", SIZE_T),
        ("rest", SIZE_T * 6),
    )


class ProcessEntry(ctypes.Structure):
    """`PROCESSENTRY32W`."""

    _fields_ = (
        ("size", DWORD),
        ("usage", DWORD),
        ("pid", DWORD),
        ("heap", SIZE_T),
        ("module", DWORD),
        ("threads", DWORD),
        ("parent", DWORD),
        ("priority", ctypes.c_long),
        ("flags", DWORD),
        ("file", wintypes.WCHAR * 260),
    )


_TYPES = {
    "AssignProcessToJobObject": (BOOL, HANDLE, HANDLE),
    "CloseHandle": (BOOL, HANDLE),
    "CreateFileW": (HANDLE, LPCWSTR, DWORD, DWORD, LPVOID, DWORD, DWORD, HANDLE),
    "CreateJobObjectW": (HANDLE, LPVOID, LPCWSTR),
    "CreateToolhelp32Snapshot": (HANDLE, DWORD, DWORD),
    "GetConsoleMode": (BOOL, HANDLE, LPVOID),
    "GetDiskFreeSpaceExW": (BOOL, LPCWSTR, LPVOID, LPVOID, LPVOID),
    "GetFinalPathNameByHandleW": (DWORD, HANDLE, LPVOID, DWORD, DWORD),
    "GetProcessTimes": (BOOL, HANDLE, LPVOID, LPVOID, LPVOID, LPVOID),
    "K32GetProcessMemoryInfo": (BOOL, HANDLE, LPVOID, DWORD),
    "LockFileEx": (BOOL, HANDLE, DWORD, DWORD, DWORD, DWORD, LPVOID),
    "OpenProcess": (HANDLE, DWORD, BOOL, DWORD),
    "Process32FirstW": (BOOL, HANDLE, LPVOID),
    "Process32NextW": (BOOL, HANDLE, LPVOID),
    "QueryInformationJobObject": (BOOL, HANDLE, DWORD, LPVOID, DWORD, LPVOID),
    "ReadFile": (BOOL, HANDLE, LPVOID, DWORD, LPVOID, LPVOID),
    "SetConsoleMode": (BOOL, HANDLE, DWORD),
    "SetInformationJobObject": (BOOL, HANDLE, DWORD, LPVOID, DWORD),
    "TerminateJobObject": (BOOL, HANDLE, DWORD),
    "UnlockFileEx": (BOOL, HANDLE, DWORD, DWORD, DWORD, LPVOID),
    "WriteFile": (BOOL, HANDLE, LPVOID, DWORD, LPVOID, LPVOID),
}
"""By function of kernel32, the types of its result and of its arguments."""

kernel = ctypes.WinDLL("kernel32", use_last_error=True)
for _name, _types in _TYPES.items():
    _function = getattr(kernel, _name)
    _function.restype, _function.argtypes = _types[0], _types[1:]

nt = ctypes.WinDLL("ntdll")
nt.NtResumeProcess.argtypes = (HANDLE,)


def last_error() -> OSError:
    """Return the error of the function that was called last."""
    return ctypes.WinError(ctypes.get_last_error())


def error_number() -> int:
    """Return the number of the error of the function that was called last."""
    return ctypes.get_last_error()
