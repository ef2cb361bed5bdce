using System.Runtime.InteropServices;

namespace QuickSilver.Core.Transport.Overlapped;

// The structures that the system reads and writes while an operation is under way, as winsock2.h, minwinbase.h and ws2def.h declare them.

// OVERLAPPED.
[StructLayout(LayoutKind.Sequential)]
internal struct OverlappedHeader
{
    public nuint Status;
    public nuint Bytes;
    public uint Offset;
    public uint OffsetHigh;
    public nint Event;
}

// OVERLAPPED_ENTRY.
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct OverlappedEntry
{
    public nuint Key;
    public OverlappedHeader* Operation;
    public nuint Status;
    public uint Bytes;
}

// WSABUF.
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct BufferPart
{
    public uint Length;
    public byte* Bytes;
}

// WSAMSG.
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct OverlappedMessage
{
    public byte* Name;
    public int NameLength;
    public BufferPart* Parts;
    public uint PartCount;
    public BufferPart Control;
    public uint Flags;
}
