using QuickSilver.Endpoints.Subscriptions;

namespace QuickSilver.Endpoints.Rings;

internal enum RingTake
{
    Message,
    Gap,
    // Nothing is there now; the waiter will be woken.
    Wait,
    Ended,
}

// Called on the reader's thread, outside the ring's lock, unless stated otherwise.
internal interface IRingOwner
{
    /// <summary>Called when a refused message may be offered again.</summary>
    void OnRoom();

    /// <summary>Core thread: called under the ring's lock before it takes so many bytes of the heap.</summary>
    /// <exception cref="OutOfMemoryException">There are none.</exception>
    void OnGrowth(int bytes)
    {
    }

    /// <summary>Called when a reader was attached and messages are buffered for it.</summary>
    void OnReader();

    /// <summary>
    /// Called when a reader has read an ended ring to its end, or has left. <paramref name="unhandled"/>: what it did not read and no other
    /// reader can; null: nothing.
    /// </summary>
    void OnReaderEnded(UnhandledMessages? unhandled);
}

internal interface IRingWaiter
{
    void Wake();
}

// A reader that has more to end than its wait.
internal interface IRingReader : IRingWaiter
{
    /// <summary>Called when the messages in the ring were discarded, because the endpoint was cancelled or its node has ended.</summary>
    void OnDiscarded();
}
