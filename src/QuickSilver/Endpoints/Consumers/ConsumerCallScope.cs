namespace QuickSilver.Endpoints.Consumers;

// Marks what runs inside a consumer: its calls, their continuations, and its callbacks. A consumer that awaits its own end from there
// would wait for itself, so such a call begins the end and does not wait.
//
// The mark is an async-local value. Setting one allocates an execution context, so the context is made once and used for all runs of the
// consumer: the thread pool runs its parts in the same context each time.
internal sealed class ConsumerCallScope(object consumer)
{
    private static readonly AsyncLocal<object?> Inside = new();

    private volatile Marked? _marked;

    /// <summary>Whether the caller runs inside this consumer, or in what the consumer has started.</summary>
    public static bool IsInside(object? consumer) => consumer is not null && ReferenceEquals(Inside.Value, consumer);

    /// <summary>Runs the callback with the mark.</summary>
    public void Run(ContextCallback callback, object state)
    {
        // Null: the caller has suppressed the flow of the context, so that a mark would not reach continuations either.
        if (ExecutionContext.Capture() is not { } context)
        {
            callback(state);
            return;
        }

        var marked = _marked;
        if (marked?.Origin != context)
        {
            _marked = marked = new Marked(context, Mark(context));
        }

        ExecutionContext.Run(marked.Context, callback, state);
    }

    private ExecutionContext Mark(ExecutionContext origin)
    {
        ExecutionContext? marked = null;
        ExecutionContext.Run(
            origin,
            _ =>
            {
                Inside.Value = consumer;
                marked = ExecutionContext.Capture();
            },
            null);
        return marked!;
    }

    private sealed record Marked(ExecutionContext Origin, ExecutionContext Context);
}
