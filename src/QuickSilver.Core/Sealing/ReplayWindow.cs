namespace QuickSilver.Core.Sealing;

// Which counters of one subkey have come, up to so far behind the highest (RFC 4303, section 3.4.3). What is further behind counts as come:
// a packet that is so late is lost like any other.
internal sealed class ReplayWindow
{
    public const int Counters = 2048;
    private const int WordBits = 64;

    private readonly ulong[] _come = new ulong[Counters / WordBits];
    private ulong _highest;

    /// <param name="through">All counters up to this one have come.</param>
    public ReplayWindow(ulong through = 0)
    {
        _highest = through;
        if (through > 0)
        {
            Array.Fill(_come, ulong.MaxValue);
        }
    }

    /// <summary>The highest counter that has come.</summary>
    public ulong Highest => _highest;

    /// <summary>Notes a counter, which is at least 1. False: it has come before, or is too old to know.</summary>
    public bool TryNote(ulong counter)
    {
        if (counter > _highest)
        {
            Advance(counter);
        }
        else if (_highest - counter >= Counters)
        {
            return false;
        }

        ref ulong word = ref _come[(counter / WordBits) % (Counters / WordBits)];
        ulong bit = 1UL << (int)(counter % WordBits);
        bool isNew = (word & bit) == 0;
        word |= bit;
        return isNew && counter > 0;
    }

    // Clears what counters between stand for. Words that are still partly in the window are cleared bit by bit.
    private void Advance(ulong counter)
    {
        if (counter - _highest >= Counters)
        {
            Array.Clear(_come);
        }
        else
        {
            for (ulong between = _highest + 1; between <= counter; between++)
            {
                _come[(between / WordBits) % (Counters / WordBits)] &= ~(1UL << (int)(between % WordBits));
            }
        }

        _highest = counter;
    }
}
