namespace QuickSilver.Multicast.Stability.Rounds;

// The rounds in which tokens bring back each record of a ring once, where one token has no room for all of them: here, or at a member on
// the way whose packets are smaller, or which adds records that are more urgent. Records that have not been brought back come first in
// the next token. What the rounds of a cycle find counts together.
internal struct RecordCycle()
{
    private bool _isOpen;
    private bool _hasMoved;

    /// <summary>The number of the cycle, from 1 on.</summary>
    public long Number { get; private set; } = 1;

    /// <summary>
    /// A round is over. Returns whether the records need further rounds, and whether anything has moved in the cycle; null: that is not
    /// known before its last round.
    /// </summary>
    /// <param name="isLast">Whether all records have been brought back in this cycle.</param>
    /// <param name="isOpen">Whether something is open of those that this round has brought back.</param>
    /// <param name="hasMoved">Whether something has moved of those.</param>
    public (bool IsOpen, bool? HasMoved) OnRound(bool isLast, bool isOpen, bool hasMoved)
    {
        _isOpen |= isOpen;
        _hasMoved |= hasMoved;
        if (!isLast)
        {
            return (true, hasMoved ? true : null);
        }

        var found = (_isOpen, _hasMoved);
        (_isOpen, _hasMoved) = (false, false);
        Number++;
        return found;
    }
}
