using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service.Stores;

namespace QuickSilver.Membership.Service.Takeover;

// Numbers configurations so that they only ever grow, over restarts too: the upper half is the service's epoch, above all
// that the store and the returning nodes know of. No clock is asked: one that is wrong by years would number years ahead. A
// service that knows of none before it begins at random, so that two that know nothing of each other seldom give the same
// number to different configurations.
//
// What goes wrong: a node may claim any number, and a service that followed each claim would be led to the end of all numbers.
// So a claim is measured against what services have issued: the one whose store this has, the one that the node which hosts
// this had its last configuration from, or else this one with its first. The measure is taken once and no claim raises it, so
// that in one life of a service all claims together raise its epoch by MostEpochsAhead. Until the first configuration of a
// service that knows of none before there is nothing to measure against, and half of all epochs are plausible.
internal sealed class ConfigurationNumbers(IMembershipStore store, ILogger logger, ulong life)
{
    // Each change of the service takes one, or a few; two clusters that began apart are apart by FirstEpochs at most.
    private const long MostEpochsAhead = 1L << 24;
    private const long FirstEpochs = 1L << 20;
    private const long MostUnmeasured = 1L << 30;
    // Half of a number is 31 bits. The numbers left above are for services that follow, one epoch each.
    private const long MostClaimed = (1L << 31) - (1L << 24);

    private long _epoch;
    private long _knownEpoch;
    private long? _measure;
    private uint _step;
    // How often the present epoch could not be saved; 0: it is saved.
    private long _unsaved;

    /// <summary>The last configuration that was made; 0 before the first.</summary>
    public long Current { get; private set; }

    /// <summary>Whether there may have been a service before this one: the store says so, or cannot say.</summary>
    public bool MayFollow { get; private set; }

    public static long EpochOf(long configuration) => configuration >> 32;

    /// <param name="known">The last configuration of the node that hosts the service; 0 when there is none.</param>
    public void Load(long known = 0)
    {
        long stored = 0;
        try
        {
            stored = store.LoadEpoch();
            MayFollow = stored > 0;
        }
        catch (Exception failure) when (failure is IOException or InvalidDataException or UnauthorizedAccessException)
        {
            MayFollow = true;
            logger.StoreFailed("read", failure.Message);
        }

        _knownEpoch = Math.Max(stored, EpochOf(known));
        _measure = _knownEpoch > 0 ? _knownEpoch : null;
    }

    /// <summary>Whether another service, one before this or beside it, can have made this configuration.</summary>
    public bool IsPlausible(long configuration)
    {
        long most = _measure is { } measure ? measure + MostEpochsAhead : MostUnmeasured;
        return EpochOf(configuration) <= Math.Min(most, MostClaimed);
    }

    /// <summary>A node has this configuration from another service: the next number is above it.</summary>
    public void MustExceed(long configuration) => _knownEpoch = Math.Max(_knownEpoch, EpochOf(configuration));

    /// <summary>Claims the next number.</summary>
    /// <param name="onClaimed">
    /// Called when the number is this service's, at once or later, or never if this service does not lead any more. It says
    /// <see cref="Use"/> when it makes the configuration.
    /// </param>
    public void Claim(Action<long> onClaimed)
    {
        if (_epoch == 0 || _knownEpoch >= _epoch || _step == uint.MaxValue)
        {
            BeginEpoch();
        }
        else if (_unsaved > 0)
        {
            // A service that began after this one would begin with the same epoch.
            Save();
        }

        long number = (_epoch << 32) | ++_step;
        store.Claim(number, () => onClaimed(number));
    }

    /// <summary>The configuration of this number, which was claimed, is made.</summary>
    public void Use(long number) => Current = number;

    private void BeginEpoch()
    {
        long first = _epoch == 0 && _knownEpoch == 0 ? (long)(life % FirstEpochs) : 0;
        _epoch = Math.Max(_epoch, _knownEpoch) + 1 + first;
        _measure ??= _epoch;
        _step = 0;
        logger.EpochBegins(_epoch, (_epoch << 32) | 1);
        Save();
    }

    private void Save()
    {
        try
        {
            store.SaveEpoch(_epoch);
            _unsaved = 0;
        }
        catch (IOException failure)
        {
            if (RepeatedEvent.IsLogged(++_unsaved))
            {
                logger.StoreFailed("saved", failure.Message);
            }
        }
    }
}
