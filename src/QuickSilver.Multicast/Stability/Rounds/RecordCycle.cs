namespace QuickSilver.Multicast.Stability.Rounds;

// The rounds in which each record of a ring has been in a token once, where one token has no room for all of them. What these rounds find
// counts together.
//
// What goes wrong: the token of a round is lost, and its records wait for the next cycle; a member on the way adds records that are more
// urgent, and those that it leaves out for them count as open.
internal struct RecordCycle()
{
    private int _written;
    private bool _isLast;
    private bool _isOpen;
    private bool _hasMoved;

    /// <summary>The number of the cycle, from 1 on.</summary>
    public int Number { get; private set; } = 1;

    /// <summary>A round has begun.</summary>
    /// <param name="written">The number of records in its token.</param>
    /// <param name="isLast">Whether all others have been in a token of this cycle.</param>
    public void OnBegun(int written, bool isLast)
    {
        _written = written;
        _isLast = isLast;
        Number += isLast ? 1 : 0;
    }

    /// <summary>
    /// The round is over. Returns whether the records need further rounds, and whether anything has moved in the cycle; null: that is not
    /// known before its last round.
    /// </summary>
    /// <param name="returned">The number of the records that the token has brought back.</param>
    /// <param name="isOpen">Whether something of these is open.</param>
    /// <param name="hasMoved">Whether something of these has moved.</param>
    public (bool IsOpen, bool? HasMoved) OnRound(int returned, bool isOpen, bool hasMoved)
    {
        _isOpen |= isOpen || returned < _written;
        _hasMoved |= hasMoved;
        if (!_isLast)
        {
            return (true, hasMoved ? true : null);
        }

        var found = (_isOpen, _hasMoved);
        (_isOpen, _hasMoved) = (false, false);
        return found;
    }
}
