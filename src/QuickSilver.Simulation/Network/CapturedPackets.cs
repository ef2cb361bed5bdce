using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Network;

// Sealed packets that an attacker on the network has recorded, the newest over the oldest, and what is made of them: one unchanged, to
// whomever it was sent first; one with another sequence, body or tag; one that claims another sealer; one with a bit flipped.
internal sealed class CapturedPackets
{
    private const int Most = 64;
    private const double KeptShare = 0.2;

    private readonly List<byte[]> _packets = [];
    private int _next;

    /// <summary>Records a packet that passes by, or not, and makes a forgery.</summary>
    public byte[] Forge(ReadOnlySpan<byte> passing, SeededRandom random)
    {
        if (_packets.Count == 0 || random.Chance(KeptShare))
        {
            Record(passing);
        }

        byte[] recorded = _packets[random.Below(_packets.Count)];
        if (random.Chance(0.25))
        {
            return [.. recorded];
        }

        byte[] forged = random.Chance(0.5) ? [.. recorded] : passing.ToArray();
        switch (random.Below(3))
        {
            case 0:
                SealedForgery.ClaimSealer(forged, recorded);
                break;
            case 1:
                SealedForgery.FlipBit(forged, random);
                break;
            default:
                SealedForgery.Make(forged, random);
                break;
        }

        return forged;
    }

    private void Record(ReadOnlySpan<byte> packet)
    {
        if (_packets.Count < Most)
        {
            _packets.Add(packet.ToArray());
        }
        else
        {
            _packets[_next] = packet.ToArray();
            _next = (_next + 1) % Most;
        }
    }
}
