namespace QuickSilver.Endpoints.Rings;

internal enum RingTake
{
    Message,
    Gap,
    // Nothing is there now; the waiter will be woken.
    Wait,
    Ended,
}

// Called on the reader's thread, outside the ring's lock.
internal interface IRingOwner
{
    /// <summary>Called when a refused message may be offered again.</summary>
    void OnRoom();

    /// <summary>Called when a reader was attached and messages are buffered for it.</summary>
    void OnReader();
}

internal interface IRingWaiter
{
    void Wake();
}

// A reader that has more to end than its wait.
internal interface IRingReader : IRingWaiter
{
    /// <summary>Called when the messages in the ring were discarded, because the application cancelled the endpoint.</summary>
    void OnDiscarded();
}
