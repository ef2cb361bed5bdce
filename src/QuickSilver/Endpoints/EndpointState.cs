namespace QuickSilver.Endpoints;

internal enum EndpointState
{
    Open = 0,
    // Accepts no more messages to publish; accepted messages are still sent.
    Draining = 1,
    Cancelled = 2,
    // The endpoint cannot continue, because its node or its reader cannot.
    Failed = 3,
    Disposed = 4,
}
