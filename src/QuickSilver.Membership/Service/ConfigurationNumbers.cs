using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Diagnostics;

namespace QuickSilver.Membership.Service;

// Numbers configurations so that they only ever grow, over restarts too: the upper half is the service's epoch, above all
// that the store and the returning nodes know of. It is also at least the seconds since 2020, so that two services that
// know nothing of each other seldom give the same number to different configurations.
internal sealed class ConfigurationNumbers(INodeEnvironment environment, IMembershipStore store, ILogger logger)
{
    // A node that claims an epoch further ahead than this is wrong, and would use the numbers up.
    private const long MaxEpochsAhead = 1L << 28;

    // Half of a number is 31 bits. What the clock may ask for leaves room for all that may be claimed ahead of it: from 2071 on, or
    // where a clock is that wrong, it is only the next epoch that counts, not the time.
    private const long LastClockEpoch = (1L << 31) - (2 * MaxEpochsAhead);

    private static readonly DateTimeOffset Origin = new(2020, 1, 1, 0, 0, 0, TimeSpan.Zero);

    private long _epoch;
    private long _knownEpoch;
    private uint _step;

    public long Current { get; private set; }

    /// <summary>The last epoch of the service before this one; 0 when none is known.</summary>
    public long StoredEpoch { get; private set; }

    private long ClockEpoch => Math.Clamp((long)(environment.UtcNow - Origin).TotalSeconds, 1, LastClockEpoch);

    public static long EpochOf(long configuration) => configuration >> 32;

    public void Load()
    {
        try
        {
            StoredEpoch = store.LoadEpoch();
            _knownEpoch = StoredEpoch;
        }
        catch (Exception failure) when (failure is IOException or InvalidDataException or UnauthorizedAccessException)
        {
            logger.StoreFailed("read", failure.Message);
        }
    }

    public bool IsPlausible(long configuration) => EpochOf(configuration) <= Math.Max(ClockEpoch, _knownEpoch) + MaxEpochsAhead;

    /// <summary>A node has this configuration from another service: the next number is above it.</summary>
    public void MustExceed(long configuration) => _knownEpoch = Math.Max(_knownEpoch, EpochOf(configuration));

    public long Next()
    {
        if (_epoch == 0 || _knownEpoch >= _epoch || _step == uint.MaxValue)
        {
            BeginEpoch();
        }

        Current = (_epoch << 32) | ++_step;
        return Current;
    }

    private void BeginEpoch()
    {
        _epoch = Math.Max(Math.Max(_epoch, _knownEpoch) + 1, _epoch == 0 ? ClockEpoch : 0);
        _step = 0;
        logger.EpochBegins(_epoch, (_epoch << 32) | 1);
        try
        {
            store.SaveEpoch(_epoch);
        }
        catch (IOException failure)
        {
            logger.StoreFailed("saved", failure.Message);
        }
    }
}
