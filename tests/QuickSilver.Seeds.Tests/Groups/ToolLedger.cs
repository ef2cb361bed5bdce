using QuickSilver.Groups.Tools;

namespace QuickSilver.Seeds.Tests.Groups;

// What the members of one seed have got of the tools of groups.
internal sealed class ToolLedger
{
    private FencingNumber _fencing;
    private ToolMember? _holder;
    private ILockHold? _hold;

    public long CountsBegun { get; set; }

    public long Added { get; private set; }

    public long NotAdded { get; private set; }

    public int Holds { get; private set; }

    /// <summary>The jobs that the group has confirmed.</summary>
    public HashSet<long> Jobs { get; } = [];

    public HashSet<long> Done { get; } = [];

    /// <summary>Calls of members that failed before they knew whether they had counted.</summary>
    public long Unknown => CountsBegun - Added - NotAdded;

    public void OnCounted(bool isAdded)
    {
        Added += isAdded ? 1 : 0;
        NotAdded += isAdded ? 0 : 1;
    }

    public void OnHold(ToolMember member, ILockHold hold)
    {
        Assert.True(
            hold.FencingNumber > _fencing, $"A hold has the fencing number {hold.FencingNumber}, and one before it had {_fencing}.");
        Assert.False(
            _holder is { IsLive: true } && !_hold!.Lost.IsCancellationRequested,
            "Two live members hold the lock, and neither has lost it.");
        (_holder, _hold, _fencing) = (member, hold, hold.FencingNumber);
        Holds++;
    }

    public void OnRelease(ToolMember member) => _holder = _holder == member ? null : _holder;
}
