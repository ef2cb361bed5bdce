namespace QuickSilver.Core.Storage;

// The calls that were answered with Busy, and whose callers wait for a notice of room. Each gets one.
internal struct RefusedCalls
{
    private bool _isAppendRefused;
    private bool _isReadRefused;

    public LogOutcome Append()
    {
        _isAppendRefused = true;
        return LogOutcome.Busy;
    }

    public LogOutcome Read()
    {
        _isReadRefused = true;
        return LogOutcome.Busy;
    }

    /// <summary>Forgets those that have room now. False: there is none of them.</summary>
    public bool TryEnd(bool hasBlock, bool hasRead)
    {
        bool any = (_isAppendRefused && hasBlock) || (_isReadRefused && hasRead);
        _isAppendRefused &= !hasBlock;
        _isReadRefused &= !hasRead;
        return any;
    }
}
