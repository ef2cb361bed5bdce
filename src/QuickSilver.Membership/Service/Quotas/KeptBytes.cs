namespace QuickSilver.Membership.Service.Quotas;

// What the service keeps for its clients in all: what its sessions have not sent, and what members may ask for again.
//
// Intuition: each session has its limit, and all together would still have far more than a server has memory. So the sum has a limit too,
// beyond which the sessions that keep most are closed. Application: bytes that are the same for many clients exist once, and count once. A
// client's part of them is its share. What goes wrong: the streams send on threads of their own, and do not report it. So the sum is too
// high until all sessions are examined, which is due only when the sum exceeds the limit, and again when it has grown by a part of it.
internal sealed class KeptBytes(SessionLimits limits)
{
    // So many parts of the limit are between two looks, and are free after sessions were closed.
    private const int PartsBetweenLooks = 16;

    private long _all;
    private long _lookAt = limits.MaxKeptBytesInAll;

    public long MaxBacklogBytes => limits.MaxBacklogBytes;

    /// <summary>Too much may be kept: all sessions are to forget what was sent.</summary>
    public bool IsLookDue => _all > _lookAt;

    public bool IsExceeded => _all > limits.MaxKeptBytesInAll;

    /// <summary>Sessions were closed, and not enough of them yet.</summary>
    public bool HasLittleRoom => _all > limits.MaxKeptBytesInAll - BetweenLooks;

    private long BetweenLooks => limits.MaxKeptBytesInAll / PartsBetweenLooks;

    /// <summary>Bytes that one client alone keeps; below zero: that it keeps no more.</summary>
    public void Add(long bytes) => _all += bytes;

    public void Keep(SharedFrames frames) => _all += frames.Keep();

    public void Drop(SharedFrames frames) => _all -= frames.Drop();

    public void OnLooked() => _lookAt = Math.Max(limits.MaxKeptBytesInAll, _all + BetweenLooks);
}

// Frames that never change. Sessions and backlogs keep the same bytes, however many they are.
internal sealed class SharedFrames(byte[] bytes)
{
    public static readonly SharedFrames None = new([]);

    private int _keepers;

    public byte[] Bytes { get; } = bytes;

    public int Length => Bytes.Length;

    /// <summary>For each of those that keep them.</summary>
    public long Share => Length / Math.Max(1, _keepers);

    /// <summary>How many bytes are kept that were not.</summary>
    public long Keep() => _keepers++ == 0 ? Length : 0;

    /// <summary>How many bytes are not kept any more.</summary>
    public long Drop() => --_keepers == 0 ? Length : 0;
}
