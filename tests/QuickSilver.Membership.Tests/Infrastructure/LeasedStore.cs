using QuickSilver.Membership.Service.Stores;

namespace QuickSilver.Membership.Tests.Infrastructure;

// A store of several servers, whose lease and answers the test holds in its hands.
internal sealed class LeasedStore : IMembershipStore
{
    private readonly List<Action> _waiting = [];
    private long _epoch;

    public bool IsHeld { get; set; } = true;

    public bool IsShared { get; set; } = true;

    public string? Obstacle { get; set; }

    /// <summary>Whether a claim is answered at once.</summary>
    public bool Answers { get; set; } = true;

    public List<long> Claimed { get; } = [];

    public long LoadEpoch() => _epoch;

    public void SaveEpoch(long epoch) => _epoch = epoch;

    public void Claim(long configuration, Action onClaimed)
    {
        Claimed.Add(configuration);
        if (Answers)
        {
            onClaimed();
        }
        else
        {
            _waiting.Add(onClaimed);
        }
    }

    /// <summary>Answers what waits, and from now on at once.</summary>
    public void Answer()
    {
        Answers = true;
        var waiting = _waiting.ToArray();
        _waiting.Clear();
        Array.ForEach(waiting, static one => one());
    }

    public Task ReleaseAsync()
    {
        (IsHeld, Answers) = (false, false);
        return Task.CompletedTask;
    }
}
