using QuickSilver.Groups.States;

namespace QuickSilver.Groups.Members;

// What the core thread of the node has for the loop of a member. Any thread.
internal sealed class MemberMail(TaskCreationOptions completions)
{
    private readonly Lock _lock = new();
    private List<StateRequest> _requests = [];
    private TakenState? _state;
    private long _noState;
    private Exception? _fault;
    private TaskCompletionSource _wake = new(completions);
    private volatile bool _hasMail;
    private bool _isClosed;

    /// <summary>Whether there is something. Set before <see cref="Wake"/> completes.</summary>
    public bool HasMail => _hasMail;

    /// <summary>Completes when there is something.</summary>
    public Task Wake
    {
        get
        {
            lock (_lock)
            {
                return _wake.Task;
            }
        }
    }

    /// <summary>Core thread.</summary>
    public void Add(StateRequest request)
    {
        bool isClosed;
        lock (_lock)
        {
            isClosed = _isClosed;
            if (!isClosed)
            {
                _requests.Add(request);
            }
        }

        if (isClosed)
        {
            request.Answer(StateAnswer.Nothing);
            return;
        }

        Signal();
    }

    public void Add(TakenState state)
    {
        lock (_lock)
        {
            _state = state;
        }

        Signal();
    }

    public void AddNoState(long view)
    {
        lock (_lock)
        {
            _noState = view;
        }

        Signal();
    }

    public void AddFault(Exception fault)
    {
        lock (_lock)
        {
            _fault ??= fault;
        }

        Signal();
    }

    /// <summary>Takes all of it.</summary>
    public (List<StateRequest> Requests, TakenState? State, long NoState, Exception? Fault) Take()
    {
        lock (_lock)
        {
            var taken = (_requests, _state, _noState, _fault);
            (_requests, _state, _noState) = ([], null, 0);
            if (_hasMail)
            {
                _hasMail = false;
                _wake = new TaskCompletionSource(completions);
            }

            return taken;
        }
    }

    /// <summary>Takes what is asked, and leaves the rest.</summary>
    public List<StateRequest> TakeRequests()
    {
        lock (_lock)
        {
            var taken = _requests;
            _requests = [];
            return taken;
        }
    }

    /// <summary>Core thread: the member has ended and answers no more.</summary>
    public void Close()
    {
        List<StateRequest> requests;
        lock (_lock)
        {
            _isClosed = true;
            (requests, _requests) = (_requests, []);
        }

        requests.ForEach(static request => request.Answer(StateAnswer.Nothing));
    }

    private void Signal()
    {
        TaskCompletionSource wake;
        lock (_lock)
        {
            _hasMail = true;
            wake = _wake;
        }

        wake.TrySetResult();
    }
}

// The state of another member, which this node has taken as a whole.
internal sealed record TakenState(NodeId Donor, StatePlace Place, ReadOnlyMemory<byte> Bytes);
