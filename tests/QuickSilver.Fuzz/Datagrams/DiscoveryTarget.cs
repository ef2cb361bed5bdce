using System.Net;
using QuickSilver.Membership.Client.Discovery;
using QuickSilver.Membership.Protocol;
using QuickSilver.Tool.Doctor.Facts.Probes;

namespace QuickSilver.Fuzz.Datagrams;

// Datagrams that come from any process before there is a cluster: those of discovery, and those of doctors.
internal sealed class DiscoveryTarget : FuzzTarget
{
    private const string Cluster = "default";

    public override string Name => "discovery";

    public override IReadOnlyList<Type> Decoders { get; } =
    [
        typeof(DiscoveryDatagram), typeof(DiscoveryContext), typeof(DiscoverySeal), typeof(DoctorDatagram),
    ];

    private static readonly DiscoverySeal Seal = new(static () => [new byte[32]]);

    public override IEnumerable<Seed> Seeds()
    {
        foreach (var kind in new[] { DiscoveryKind.Question, DiscoveryKind.Answer, DiscoveryKind.Claim })
        {
            foreach (var address in new[] { IPAddress.Loopback, IPAddress.IPv6Loopback })
            {
                byte[] bytes = new byte[DiscoveryDatagram.MostBytes];
                int length = new DiscoveryDatagram(
                    kind, DiscoveryDatagram.HashOf(Cluster), 5, new HostStanding(3, 2, 1), new IPEndPoint(address, 5000), 9)
                    .Write(bytes);
                string name = kind.ToString().ToLowerInvariant() + (length == DiscoveryDatagram.MostBytes ? "-v6" : "");
                yield return new Seed(name, bytes[..length]);
            }
        }

        foreach (var kind in new[] { DoctorKind.Probe, DoctorKind.Answer })
        {
            yield return new Seed($"doctor-{kind.ToString().ToLowerInvariant()}", new DoctorDatagram(kind, true, false, 5).Write(Cluster));
        }
    }

    public override void Run(ReadOnlySpan<byte> input)
    {
        if (DiscoveryDatagram.TryRead(input, out var datagram) && datagram.Kind != DiscoveryKind.None)
        {
            byte[] again = new byte[DiscoveryDatagram.MostBytes];
            datagram.Write(again);
            FindingException.ThrowUnless(
                DiscoveryDatagram.TryRead(again, out var same) && same == datagram, "A datagram is not what was written.");
        }

        _ = Seal.TryOpen(input, out _);
        if (DoctorDatagram.Read(input, Cluster) is { } word)
        {
            FindingException.ThrowUnless(DoctorDatagram.Read(word.Write(Cluster), Cluster) == word, "A word is not what was written.");
        }
    }
}
