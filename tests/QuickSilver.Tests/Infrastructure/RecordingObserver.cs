namespace QuickSilver.Tests.Infrastructure;

// The calls of an observer, in order, and on which threads.
internal sealed class RecordingObserver : IObserver<Message<string>>
{
    public List<string> Told { get; } = [];

    public HashSet<int> Threads { get; } = [];

    public Exception? Error { get; private set; }

    public bool Throws { get; init; }

    public void OnNext(Message<string> value) => Note(value.Value);

    public void OnCompleted() => Note("completed");

    public void OnError(Exception error)
    {
        Error = error;
        Note("error");
    }

    private void Note(string what)
    {
        lock (Told)
        {
            Told.Add(what);
            Threads.Add(Environment.CurrentManagedThreadId);
        }

        if (Throws)
        {
            throw new InvalidOperationException("An observer may throw.");
        }
    }
}
