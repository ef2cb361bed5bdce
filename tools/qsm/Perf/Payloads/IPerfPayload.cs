namespace QuickSilver.Tool.Perf.Payloads;

// What is sent over a measured topic, for its two sides. A struct, so that the loops which call it for every message are
// compiled for it.
internal interface IPerfPayload<T>
{
    /// <summary>A message to publish at once: it may be one that was written before, changed.</summary>
    ref readonly T Write(long sentAtTicks, long sequence);

    static abstract bool TryRead(in T message, out long sentAtTicks, out long sequence);
}
