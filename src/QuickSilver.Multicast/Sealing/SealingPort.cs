using System.Net;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Transport;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Sealing;

// A port through which everything goes out sealed. The senders of packets, first or again, to a group or to one node, have plain ones
// in their memory; each is sealed on its way, also when it goes out again. A run that the system has no room for is sealed once more when
// it is sent again.
//
// Invariant: the packets of one run are of one view.
internal sealed class SealingPort(IDatagramPort port, KeyRing keys, MulticastCounters counters) : IDatagramPort
{
    /// <summary>The port that sends, and at which this node receives.</summary>
    public IDatagramPort Inner => port;

    public IPEndPoint LocalEndPoint => port.LocalEndPoint;

    public int MaxRunSegments => port.MaxRunSegments;

    public long KernelDrops => port.KernelDrops;

    public int ReceiveBufferBytes => port.ReceiveBufferBytes;

    /// <summary>The port, or one that seals where there are keys.</summary>
    public static IDatagramPort Over(IDatagramPort port, KeyRing? keys, MulticastCounters counters) =>
        keys is null ? port : new SealingPort(port, keys, counters);

    public SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes, DatagramAddress destination)
    {
        if (keys.TrySeal(run, segmentBytes, out var sealedRun))
        {
            return port.Send(sealedRun, segmentBytes + SealedPacket.TrailerBytes, destination);
        }

        counters.Keyless++;
        return SendOutcome.Refused;
    }

    public void Dispose() => port.Dispose();
}
