using System.Threading.Tasks.Sources;

namespace QuickSilver.Core.Transport.Streams;

// What one asynchronous method of a stream thread waits for again and again. The wait continues within Set. A Set without a wait is
// kept for the next wait, once.
//
// Invariant: all calls are the stream thread's. A continuation that is registered after its source is complete would run on the thread
// pool; here nothing comes between a wait and its registration.
internal sealed class Signal : IValueTaskSource
{
    private ManualResetValueTaskSourceCore<bool> _wait;
    private bool _isSet;
    private bool _isAwaited;

    public ValueTask WaitAsync()
    {
        if (_isSet)
        {
            _isSet = false;
            return default;
        }

        _wait.Reset();
        _isAwaited = true;
        return new ValueTask(this, _wait.Version);
    }

    public void Set()
    {
        if (_isAwaited)
        {
            _isAwaited = false;
            _wait.SetResult(true);
        }
        else
        {
            _isSet = true;
        }
    }

    void IValueTaskSource.GetResult(short token) => _wait.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _wait.GetStatus(token);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _wait.OnCompleted(continuation, state, token, flags);
}
