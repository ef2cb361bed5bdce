using QuickSilver.Multicast.Paths;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Sending;

// The sizes of the paths to the members of one stream's view: the packer follows them, and they are checked from time to time, because they
// may have become too narrow.
internal struct StreamPaths(PathSizes sizes, LiveMembers live)
{
    private static readonly TimeSpan CheckInterval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan RefusalSpacing = TimeSpan.FromMilliseconds(250);

    // The version of the sizes that the packer follows.
    private int _followed = -1;
    private TimeSpan _checkedAt = TimeSpan.MinValue / 2;

    /// <summary>Gets the size of packets if sizes have changed since the last call.</summary>
    public bool TryFollow(out int packetBytes)
    {
        packetBytes = 0;
        if (_followed == sizes.Version)
        {
            return false;
        }

        _followed = sizes.Version;
        packetBytes = sizes.Of(live);
        return true;
    }

    /// <summary>Packets are under way.</summary>
    public void Check(TimeSpan now)
    {
        if (now - _checkedAt >= CheckInterval)
        {
            _checkedAt = now;
            sizes.Check(live);
        }
    }

    /// <summary>The system has refused packets. Perhaps they are too large for the interface by now.</summary>
    public void OnRefused(TimeSpan now)
    {
        if (now - _checkedAt >= RefusalSpacing)
        {
            _checkedAt = now;
            sizes.Check(live, isRefused: true);
        }
    }
}
