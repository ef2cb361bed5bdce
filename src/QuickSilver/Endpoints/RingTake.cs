namespace QuickSilver.Endpoints;

internal enum RingTake
{
    Message,
    Gap,
    // Nothing now; the waiter will be woken.
    Wait,
    Ended,
}

// Told on the reader's thread, outside the ring's lock.
internal interface IRingOwner
{
    /// <summary>A refused message may come again.</summary>
    void OnRoom();

    /// <summary>A reader has come, and is buffered for.</summary>
    void OnReader();
}

internal interface IRingWaiter
{
    void Wake();
}
