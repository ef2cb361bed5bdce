namespace QuickSilver.Multicast.Receiving.States;

// Whether a loss that was reported to the layer above is to be reported again: not all received packets were parsed then, so that layer
// could not see yet what is missing of its topics, or it had no memory for the report.
internal struct LossReport
{
    private bool _isUnread;
    private bool _isRefused;

    /// <summary>Whether a report is to follow when more is read.</summary>
    public readonly bool IsDue => _isUnread;

    /// <summary>A loss is reported.</summary>
    /// <param name="isUnread">Whether packets that came are not read yet.</param>
    public void Begin(bool isUnread) => _isUnread = isUnread;

    /// <summary>The layer above has no memory for the report.</summary>
    public void Refuse() => _isUnread = _isRefused = true;

    /// <summary>The layer above waits for what is not read.</summary>
    public void Await(bool isUnread) => _isUnread |= isUnread;

    /// <summary>Whether to report again now.</summary>
    /// <param name="hasRead">Whether more was read since.</param>
    /// <param name="mayHaveMemory">Whether what was refused may be tried again.</param>
    public bool TryRepeat(bool hasRead, bool mayHaveMemory)
    {
        if (!_isUnread || (!hasRead && !(_isRefused && mayHaveMemory)))
        {
            return false;
        }

        _isRefused = false;
        return true;
    }
}
