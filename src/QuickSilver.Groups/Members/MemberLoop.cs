using QuickSilver.Endpoints;
using QuickSilver.Groups.Endpoints;
using QuickSilver.Groups.Ordering;
using QuickSilver.Groups.States;

namespace QuickSilver.Groups.Members;

// The loop of a member with a state, outside the core thread: takes the events of the group, gives them to the handler one at a time, and
// writes the state between two of them. While the member has no state, its events wait in a queue.
//
// Invariant: the state that the handler has is that of _place. It contains each event before it once, and no other.
internal sealed class MemberLoop<TMessage>(
    TopicEndpoint<GroupItem<TMessage>> endpoint,
    Group<TMessage> group,
    NodeId self,
    StateCalls<TMessage> calls,
    MemberMail mail,
    IMemberLife life)
{
    private const long MostWaitingBytes = 64 << 20;
    // After so many queues that were dropped the senders wait, so that a state can overtake them.
    private const int MostDrops = 3;
    private static readonly TimeSpan LongestHold = TimeSpan.FromSeconds(10);
    private const int MostViews = 256;

    // A question that does not reach the handler is declined, so that the asking member does not wait for this one.
    private readonly SuffixQueue<GroupEvent<TMessage>> _suffix =
        new(life.MostWaiting, MostWaitingBytes, static one => one.Question?.Pass());
    private readonly List<GapNotice> _gaps = [];
    // The newest views that were taken while there is no state.
    private readonly List<GroupView> _views = [];
    // Those that are not answered.
    private readonly List<StateRequest> _requests = [];
    // Where the handler's state is, and the view of that place.
    private StatePlace _place = new();
    private GroupView? _placeView;
    // The newest view that was taken.
    private GroupView? _view;
    // What was taken of another member. It is used when its view has come.
    private TakenState? _taken;
    private volatile bool _hasState;
    private int _drops;

    /// <summary>Whether the handler has a state. From any thread.</summary>
    public bool HasState => _hasState;

    private bool MayTake => _hasState || !_suffix.IsFull;

    private bool ResumesInContext => endpoint.Topic.Node.ResumesInContext;

    public async Task RunAsync()
    {
        var events = endpoint.ReadAllAsync(_gaps.Add, life.Stop).GetAsyncEnumerator(CancellationToken.None);
        try
        {
            while (await NextAsync(events).ConfigureAwait(ResumesInContext))
            {
                await TakeAsync(events.Current).ConfigureAwait(ResumesInContext);
            }
        }
        finally
        {
            await events.DisposeAsync().ConfigureAwait(ResumesInContext);
            _requests.ForEach(request => Answer(request, StateAnswer.Nothing));
        }
    }

    // Handles what the core thread has until there is an event.
    private async ValueTask<bool> NextAsync(IAsyncEnumerator<Message<GroupItem<TMessage>>> events)
    {
        while (mail.HasMail || !MayTake)
        {
            if (!mail.HasMail && !await IsWokenAsync().ConfigureAwait(ResumesInContext))
            {
                // A view may wait behind what is not taken, and without it there may be no state.
                _suffix.Drop();
                Seek(isNew: false);
                break;
            }

            await HandleMailAsync().ConfigureAwait(ResumesInContext);
        }

        var moving = events.MoveNextAsync();
        if (moving.IsCompleted)
        {
            return await moving.ConfigureAwait(ResumesInContext);
        }

        var next = AwaitAsync(moving);
        while (true)
        {
            await Task.WhenAny(next, mail.Wake).ConfigureAwait(ResumesInContext);
            if (next.IsCompleted)
            {
                return await next.ConfigureAwait(ResumesInContext);
            }

            await HandleMailAsync().ConfigureAwait(ResumesInContext);
        }
    }

    // Not AsTask, which would complete outside the context in which this loop continues.
    private async Task<bool> AwaitAsync(ValueTask<bool> moving) => await moving.ConfigureAwait(ResumesInContext);

    // The senders wait, because this member takes nothing.
    private async ValueTask<bool> IsWokenAsync()
    {
        try
        {
            await mail.Wake.WaitAsync(LongestHold, endpoint.Topic.Node.OutsideTime, life.Stop).ConfigureAwait(ResumesInContext);
            return true;
        }
        catch (TimeoutException)
        {
            return false;
        }
    }

    private async ValueTask TakeAsync(Message<GroupItem<TMessage>> message)
    {
        var item = message.Value;
        if (_gaps.Count > 0 && _view is not null)
        {
            TakeGaps();
        }

        // Before the first reader the buffer may have dropped views.
        if (item.View != _view)
        {
            await TakeViewAsync(item.View!).ConfigureAwait(ResumesInContext);
            if (item.Frame == GroupFrame.View)
            {
                // What is missing before it is of earlier views.
                _gaps.Clear();
            }
            else
            {
                TakeGaps();
            }
        }

        if (item.Frame == GroupFrame.View)
        {
            return;
        }

        var one = group.EventOf(item, message.Sender);
        if (_hasState)
        {
            await ApplyAsync(one, message.Sequence).ConfigureAwait(ResumesInContext);
        }
        else if (_taken is null || !_taken.Place.Contains(item.View!.Number, message.Sender, message.Sequence))
        {
            _suffix.Add(one, item.View!.Number, message.Sender, message.Sequence, item.Bytes);
            DropWhenFull();
        }
        else
        {
            one.Question?.Pass();
        }
    }

    private async ValueTask TakeViewAsync(GroupView view)
    {
        bool isFirst = _view is null;
        bool isNew = isFirst || view.Left.Contains(self);
        _view = view;
        if (isNew)
        {
            // What this member had is void: it does not know what the others have got in the meantime.
            _hasState = false;
            _suffix.Begin(view.Number);
            _views.Clear();
            _drops = 0;
            if (_taken is not null && _taken.Place.IsBefore(view.Number))
            {
                _taken = null;
            }
        }

        if (_hasState)
        {
            await ApplyAsync(new GroupEvent<TMessage>(view), number: 0).ConfigureAwait(ResumesInContext);
        }
        else
        {
            if (_views.Count == MostViews)
            {
                _views.RemoveAt(0);
            }

            _views.Add(view);
            _suffix.Add(new GroupEvent<TMessage>(view), view.Number, default, number: 0, bytes: 0);
            await SeekAsync(isNew).ConfigureAwait(ResumesInContext);
        }

        await AnswerAsync().ConfigureAwait(ResumesInContext);
    }

    private void TakeGaps()
    {
        foreach (var gap in _gaps)
        {
            if (!_hasState)
            {
                _suffix.Miss(_view!.Number, gap.Sender, gap.Last);
            }
            else
            {
                if (!_place.Contains(_place.View, gap.Sender, gap.Last))
                {
                    _place.Pass(gap.Sender, gap.Last);
                }

                calls.OnGap(gap);
            }
        }

        _gaps.Clear();
        if (!_hasState && _taken is null)
        {
            Seek(isNew: false);
        }
    }

    private void DropWhenFull()
    {
        if (_suffix.IsFull && _taken is null && _drops < MostDrops)
        {
            _drops++;
            _suffix.Drop();
            Seek(isNew: false);
        }
    }

    // There is no state, and a view has come.
    private async ValueTask SeekAsync(bool isNew)
    {
        if (_taken is not null)
        {
            await UseTakenAsync().ConfigureAwait(ResumesInContext);
        }
        else if (_view!.Members.Count == 1)
        {
            await BeginAsync().ConfigureAwait(ResumesInContext);
        }
        else
        {
            Seek(isNew);
        }
    }

    private void Seek(bool isNew) => life.Seek(new StateSearch(_view!.Number, _view.Members, _suffix.Needed.Copy(), isNew));

    private async ValueTask HandleMailAsync()
    {
        var (requests, state, noState, fault) = mail.Take();
        if (fault is not null)
        {
            throw fault;
        }

        _requests.AddRange(requests);
        if (!_hasState && _taken is null)
        {
            if (state is not null)
            {
                await OnStateAsync(state).ConfigureAwait(ResumesInContext);
            }
            else if (noState == _view?.Number)
            {
                await BeginAsync().ConfigureAwait(ResumesInContext);
            }
        }

        await AnswerAsync().ConfigureAwait(ResumesInContext);
    }

    private async ValueTask OnStateAsync(TakenState state)
    {
        // A donor that has left before the newest view may be the only one that had this state: others may have begun without it.
        bool isOfView = !state.Place.IsBefore(_view!.Number) || _view.RankOf(state.Donor) >= 0;
        if (!isOfView || !state.Place.Covers(_suffix.Needed))
        {
            Seek(isNew: false);
            return;
        }

        _taken = state;
        life.EndSearch();
        _suffix.RemoveContained(state.Place);
        await UseTakenAsync().ConfigureAwait(ResumesInContext);
    }

    // Uses the state as soon as its view has come.
    private async ValueTask UseTakenAsync()
    {
        var taken = _taken!;
        if (_view!.Number < taken.Place.View)
        {
            return;
        }

        _taken = null;
        if (_views.Find(view => view.Number == taken.Place.View) is not { } view)
        {
            Seek(isNew: true);
            return;
        }

        await calls.ReadAsync(taken.Bytes, view).ConfigureAwait(ResumesInContext);
        (_place, _placeView) = (taken.Place.Copy(), view);
        _suffix.RemoveContained(_place);
        await ContinueAsync().ConfigureAwait(ResumesInContext);
    }

    // No member has a state: this one begins with its own.
    private ValueTask BeginAsync()
    {
        (_place, _placeView) = (new StatePlace(), null);
        return ContinueAsync();
    }

    private async ValueTask ContinueAsync()
    {
        _hasState = true;
        _views.Clear();
        life.EndSearch();
        life.OnState();
        while (_suffix.TryTake(out var one, out long number))
        {
            await ApplyAsync(one, number).ConfigureAwait(ResumesInContext);
        }
    }

    // The state may contain events that had not come here yet when it was read.
    private async ValueTask ApplyAsync(GroupEvent<TMessage> one, long number)
    {
        if (one.IsView ? _place.ContainsView(one.View.Number) : _place.Contains(one.View.Number, one.Sender, number))
        {
            one.Question?.Pass();
            return;
        }

        if (_place.View != one.View.Number)
        {
            if (!one.IsView)
            {
                await calls.OnEventAsync(new GroupEvent<TMessage>(one.View)).ConfigureAwait(ResumesInContext);
            }

            _place.Enter(one.View.Number);
            _placeView = one.View;
        }

        await calls.OnEventAsync(one).ConfigureAwait(ResumesInContext);
        if (!one.IsView)
        {
            _place.Pass(one.Sender, number);
        }
    }

    // Between two events: answers the members that ask, if this one is far enough.
    private async ValueTask AnswerAsync()
    {
        if (_requests.Count == 0 || _view is null || _taken is not null)
        {
            return;
        }

        _requests.RemoveAll(static request => request.IsAbandoned);
        if (!_hasState)
        {
            Answer(new StateAnswer(StatePlace.At(_view.Number), null));
            return;
        }

        RefuseStrangers();
        if (_requests.Exists(IsDue))
        {
            var written = await calls.WriteAsync(life.MostBytes).ConfigureAwait(ResumesInContext);
            // Also for those that asked again because it took so long.
            _requests.AddRange(mail.TakeRequests());
            RefuseStrangers();
            Answer(
                written.IsTooLarge
                    ? new StateAnswer(_place, null) { TooLarge = written.Size, Limit = life.MostBytes }
                    : new StateAnswer(_place.Copy(), written.Written));
        }

        bool IsDue(StateRequest request) => !_place.IsBefore(request.View);
    }

    // Only members get the state, so nothing is written for others.
    private void RefuseStrangers()
    {
        foreach (var request in _requests)
        {
            if (!_place.IsBefore(request.View) && _placeView!.RankOf(request.Taker) < 0)
            {
                Answer(request, StateAnswer.Nothing);
            }
        }

        _requests.RemoveAll(static request => request.IsAbandoned);
    }

    private void Answer(StateAnswer answer)
    {
        foreach (var request in _requests)
        {
            if (!answer.Place.IsBefore(request.View))
            {
                Answer(request, answer);
            }
        }

        _requests.RemoveAll(static request => request.IsAbandoned);
    }

    // The core thread waits for the answer, and continues there.
    private void Answer(StateRequest request, StateAnswer answer)
    {
        request.Abandon();
        endpoint.Topic.Node.Run(() => request.Answer(answer));
    }
}
