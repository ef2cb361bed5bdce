using System.Net;

namespace QuickSilver.Processes.Tests.Lab.Network;

// What the switch saw of UDP: how much went where, and a few of the latest datagrams. Through it a test learns the
// addresses that the system under test chose, and gets real packets to mutilate or replay.
internal sealed class UdpCensus
{
    private const int MaxDestinations = 4096;
    private const int MaxSamples = 256;
    private readonly Lock _lock = new();
    private readonly Dictionary<(uint Address, int Port), long> _bytes = [];
    private readonly Queue<UdpSample> _samples = [];

    public void Count(Frame frame)
    {
        var key = (frame.DestinationAddress, frame.DestinationPort);
        lock (_lock)
        {
            if (_bytes.TryGetValue(key, out var bytes) || _bytes.Count < MaxDestinations)
            {
                _bytes[key] = bytes + frame.Payload.Length;
            }

            if (_samples.Count == MaxSamples)
            {
                _samples.Dequeue();
            }

            var length = frame.SegmentBytes > 0 ? Math.Min(frame.SegmentBytes, frame.Payload.Length) : frame.Payload.Length;
            var source = EndPoint((frame.SourceAddress, frame.SourcePort));
            _samples.Enqueue(new UdpSample(source, EndPoint(key), frame.Payload[..length].ToArray()));
        }
    }

    public void Reset()
    {
        lock (_lock)
        {
            _bytes.Clear();
            _samples.Clear();
        }
    }

    /// <summary>Payload bytes by destination, most first.</summary>
    public IReadOnlyList<KeyValuePair<IPEndPoint, long>> BytesByDestination()
    {
        lock (_lock)
        {
            return [.. _bytes.OrderByDescending(p => p.Value).Select(p => KeyValuePair.Create(EndPoint(p.Key), p.Value))];
        }
    }

    public IReadOnlyList<UdpSample> LatestDatagrams()
    {
        lock (_lock)
        {
            return [.. _samples];
        }
    }

    private static IPEndPoint EndPoint((uint Address, int Port) key) =>
        new(new IPAddress([(byte)(key.Address >> 24), (byte)(key.Address >> 16), (byte)(key.Address >> 8), (byte)key.Address]), key.Port);
}

internal sealed record UdpSample(IPEndPoint Source, IPEndPoint Destination, byte[] Payload)
{
    public bool IsMulticast => (Destination.Address.GetAddressBytes()[0] & 0xf0) == 0xe0;
}
