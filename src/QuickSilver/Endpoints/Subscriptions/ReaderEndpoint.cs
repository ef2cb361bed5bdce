using System.Runtime.CompilerServices;
using System.Threading.Tasks.Sources;
using QuickSilver.Endpoints.Rings;
using QuickSilver.Membership.Views;

namespace QuickSilver.Endpoints.Subscriptions;

// The message stream of a reader. Creating it costs nothing; enumerating it makes the caller the endpoint's only reader.
internal sealed class ReaderEndpoint<T>(
    string topic, ReaderRing<T> ring, INodeNames names, CancellationToken cancellationToken, Action<GapNotice>? onGap)
    : IAsyncEnumerable<Message<T>>
{
    public static InvalidOperationException Taken(string topic, ReaderRing<T> ring) => new(
        $"This endpoint of the topic \"{topic}\" already has a {(ring.HasConsumer ? "consumer (Subscribe)" : "reader (ReadAllAsync)")}. "
        + "An endpoint supports one reader or consumer at a time. Open another endpoint of the topic.");

    public IAsyncEnumerator<Message<T>> GetAsyncEnumerator(CancellationToken token = default)
    {
        if (!ring.TryAttach())
        {
            throw Taken(topic, ring);
        }

        return new Enumerator(ring, names, cancellationToken, token, onGap);
    }

    // The enumerator is its own value task source for the wait, so a reader allocates nothing per message, whether it waits or not.
    private sealed class Enumerator : IAsyncEnumerator<Message<T>>, IValueTaskSource, IRingWaiter
    {
        private readonly ReaderRing<T> _ring;
        private readonly INodeNames _names;
        private readonly Action<GapNotice>? _onGap;
        private readonly CancellationToken _first;
        private readonly CancellationToken _second;
        private readonly CancellationTokenRegistration _firstRegistration;
        private readonly CancellationTokenRegistration _secondRegistration;
        private ManualResetValueTaskSourceCore<bool> _core = new() { RunContinuationsAsynchronously = true };
        private Message<T> _current;
        private UnhandledMessages? _unhandled;
        private bool _isDisposed;

        public Enumerator(
            ReaderRing<T> ring, INodeNames names, CancellationToken first, CancellationToken second, Action<GapNotice>? onGap)
        {
            _ring = ring;
            _names = names;
            _onGap = onGap;
            _first = first;
            _second = second == first ? default : second;
            _firstRegistration = _first.UnsafeRegister(static state => ((Enumerator)state!).OnCancelled(), this);
            _secondRegistration = _second.UnsafeRegister(static state => ((Enumerator)state!).OnCancelled(), this);
        }

        public Message<T> Current => _current;

        public ValueTask<bool> MoveNextAsync()
        {
            if (_first.IsCancellationRequested || _second.IsCancellationRequested)
            {
                return ValueTask.FromCanceled<bool>(_first.IsCancellationRequested ? _first : _second);
            }

            // The source is reset before the ring knows of it, because a wake may come at once.
            _core.Reset();
            var step = _ring.Take(this, out _current, out var gap);
            return step == RingTake.Message ? new ValueTask<bool>(true) : MoveNextSlowAsync(step, gap);
        }

        public ValueTask DisposeAsync()
        {
            if (!_isDisposed)
            {
                _isDisposed = true;
                _firstRegistration.Dispose();
                _secondRegistration.Dispose();
                foreach (var gap in _ring.Detach())
                {
                    NoteUnhandled(gap);
                }

                OnEnded();
            }

            return ValueTask.CompletedTask;
        }

        public void Wake() => _core.SetResult(true);

        void IValueTaskSource.GetResult(short token) => _core.GetResult(token);

        ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _core.GetStatus(token);

        void IValueTaskSource.OnCompleted(
            Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
            _core.OnCompleted(continuation, state, token, flags);

        // Awaits in the caller's context, so that gap notices are reported where messages are read.
        [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
        private async ValueTask<bool> MoveNextSlowAsync(RingTake step, GapNotice gap)
        {
            while (true)
            {
                switch (step)
                {
                    case RingTake.Message:
                        return true;
                    case RingTake.Ended:
                        OnEnded();
                        return false;
                    case RingTake.Gap:
                        NoteUnhandled(gap);
                        _onGap?.Invoke(gap.Named(_names));
                        break;
                    default:
                        await AwaitWake();
                        _first.ThrowIfCancellationRequested();
                        _second.ThrowIfCancellationRequested();
                        break;
                }

                _core.Reset();
                step = _ring.Take(this, out _current, out gap);
            }
        }

        private void NoteUnhandled(in GapNotice gap)
        {
            if (gap.Reason == GapReason.SubscriberEnded)
            {
                (_unhandled ??= new UnhandledMessages()).Add(gap);
            }
        }

        // At the end of the stream, and when the enumerator is disposed.
        private void OnEnded()
        {
            var unhandled = _unhandled;
            _unhandled = null;
            _ring.Owner?.OnReaderEnded(unhandled);
        }

        private ValueTask AwaitWake()
        {
            var wake = new ValueTask(this, _core.Version);
            // A cancellation before the ring knew of this wait could not cancel it, so check again.
            if (_first.IsCancellationRequested || _second.IsCancellationRequested)
            {
                OnCancelled();
            }

            return wake;
        }

        private void OnCancelled()
        {
            if (_ring.TryCancelWait(this))
            {
                Wake();
            }
        }
    }
}
