namespace QuickSilver.Multicast.Sending;

// The claims of a node that are not in use. It keeps as many as one burst of publishing needed, up to a limit.
internal sealed class ClaimPool
{
    public const int MostKept = 1 << 14;

    private readonly Stack<StabilityClaim> _free = [];

    /// <summary>Gets a claim of a message that is sent into so many streams.</summary>
    public StabilityClaim Rent(IStabilityObserver observer, long sequence, int streams)
    {
        if (!_free.TryPop(out var claim))
        {
            claim = new StabilityClaim(this);
        }

        claim.Begin(observer, sequence, streams);
        return claim;
    }

    public void Return(StabilityClaim claim)
    {
        if (_free.Count < MostKept)
        {
            _free.Push(claim);
        }
    }
}
