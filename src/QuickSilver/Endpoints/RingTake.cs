namespace QuickSilver.Endpoints;

internal enum RingTake
{
    Message,
    Gap,
    // Nothing now; the waiter will be woken.
    Wait,
    Ended,
}

internal interface IRingWaiter
{
    void Wake();
}
