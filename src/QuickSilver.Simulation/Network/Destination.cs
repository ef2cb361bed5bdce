using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Transport;

namespace QuickSilver.Simulation.Network;

// Where datagrams go: an address as its 32 bits, and a port.
internal readonly record struct Destination(uint AddressBits, ushort Port)
{
    public bool IsGroup => AddressBits >> 28 == 0xE;

    public static bool IsLoopback(uint addressBits) => addressBits >> 24 == 127;

    public ulong Key => ((ulong)AddressBits << 16) | Port;

    public static Destination Of(IPAddress address, int port)
    {
        Span<byte> bytes = stackalloc byte[4];
        if (address.AddressFamily != AddressFamily.InterNetwork || !address.TryWriteBytes(bytes, out _))
        {
            throw new TransportException($"The simulated network supports IPv4 only, not {address}.");
        }

        return new Destination(BinaryPrimitives.ReadUInt32BigEndian(bytes), (ushort)port);
    }
}
