using QuickSilver.Core.Flow;

namespace QuickSilver.Tool.Doctor.Facts.Probes;

// What a listening doctor says to a probe. Any process can send one, in the name of another host: the answers have no more bytes than came,
// and there are at most so many a second.
internal sealed class DoctorAnswers(string cluster, Func<TimeSpan> clock)
{
    // A doctor sends about ten probes in a second.
    public const int ProbesPerSecond = 100;

    private readonly RateLimit _probes = new(clock(), ProbesPerSecond, ProbesPerSecond);
    private readonly Lock _lock = new();

    /// <summary>
    /// What to send to the prober, and what to the doctors' group; null: nothing, as it was no probe, or one too many. Only the probe shows
    /// whether there is room for both.
    /// </summary>
    /// <param name="received">The whole datagram.</param>
    /// <param name="isGroup">Whether it came over the group.</param>
    public (byte[] ToProber, byte[]? ToGroup)? To(ReadOnlySpan<byte> received, bool isGroup)
    {
        if (DoctorDatagram.Read(received, cluster) is not { Kind: DoctorKind.Probe } probe || !TryTake())
        {
            return null;
        }

        var answer = new DoctorDatagram(DoctorKind.Answer, isGroup, IsToGroup: false, probe.Nonce);
        bool hasRoom = received.Length >= DoctorDatagram.ProbeBytes;
        return (answer.Write(cluster), hasRoom ? (answer with { IsToGroup = true }).Write(cluster) : null);
    }

    // Probes come over two sockets.
    private bool TryTake()
    {
        lock (_lock)
        {
            return _probes.TryTake(clock(), 1);
        }
    }
}
