using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering.Credit;

namespace QuickSilver.Multicast.Ordering.Holding;

// A queue in front of a subscription's sink, for a protocol whose messages may have to wait (IDeliveryGate). A message that must wait
// counts as taken and is copied, so that its packet and its sender do not wait with it. The bytes are bounded, for each sender and topic
// and for the node, together with those that wait for slow readers. Only a message for which there is no room is refused: then its sender
// is held to the rate at which messages pass, as it is for a slow reader.
//
// Invariants: messages and gaps of one sender are passed in their order; a view is passed after all messages of the view before it, and
// before all of its own. Messages of other senders may wait for the message that was just passed. They are passed soon, but not within the
// same call, which is in the middle of another sender's run.
internal sealed class HoldingSink : IDeliverySink, ITopicReceiver
{
    // More views than these wait where they do not cost an entry each: in the sequence of views.
    private const int MostViews = 16;

    // Messages that are passed in one turn of the core thread, which has packets and tokens to handle.
    private const int MostPerTurn = 256;

    // What threw may throw again.
    private static readonly TimeSpan PauseAfterFault = TimeSpan.FromMilliseconds(10);

    private readonly INodeEnvironment _environment;
    private readonly IDeliverySink _sink;
    private readonly IDeliveryGate _gate;
    private readonly ParkingBudget _budget;
    private readonly ulong _topicId;
    private readonly Alarm _pump;
    // In the order of their first messages that waited. A run stays when it is empty, until one of another sender is added.
    private readonly List<HeldRun> _runs = [];
    // The views that wait for the messages of the views before them. Null until one does.
    private Queue<MemberView>? _views;
    private long _arrivedView;
    private long _passedView;
    private bool _isFull;
    private bool _isPumping;
    private int _leftOfTurn;
    private bool _isClosed;
    private Action? _completed;

    /// <param name="channel">The channel.</param>
    /// <param name="sink">The sink of the messages that may be passed.</param>
    /// <param name="gate">What decides that.</param>
    /// <param name="environment">The environment of the node.</param>
    /// <param name="budget">The limits of the memory for messages that wait.</param>
    /// <param name="open">Opens the channel with this object as its sink.</param>
    public HoldingSink(
        ChannelSpec channel,
        IDeliverySink sink,
        IDeliveryGate gate,
        INodeEnvironment environment,
        ParkingBudget budget,
        Func<ChannelSpec, IDeliverySink, ITopicReceiver> open)
    {
        _topicId = channel.Topic;
        _sink = sink;
        _gate = gate;
        _environment = environment;
        _budget = budget;
        _pump = new Alarm(Pump);
        Receiver = open(channel, this);
    }

    /// <summary>The channel's own receiver.</summary>
    public ITopicReceiver Receiver { get; }

    /// <summary>The number of messages that wait.</summary>
    public int Held { get; private set; }

    /// <summary>The number of messages that have been passed after they waited. While some wait, it shows their progress.</summary>
    public long Progress { get; private set; }

    /// <summary>What the messages that wait are waiting for, as the end of a sentence.</summary>
    public string WaitsFor => _gate.WaitsFor;

    public string? WhyFull => _isFull ? $"{Held} messages wait for {_gate.WaitsFor}" : null;

    public bool HasRoomForView => _views is null || _views.Count < MostViews;

    public string? Name
    {
        get => Receiver.Name;
        set => Receiver.Name = value;
    }

    /// <summary>The number of messages that the sink itself has taken.</summary>
    public long Taken => Receiver.Taken - Held;

    public bool TryAccept(in DeliveredMessage message)
    {
        var run = Find(message.Sender);
        if (run is { Count: > 0 } || _arrivedView != _passedView)
        {
            return TryHold(message, run);
        }

        bool mayPass;
        try
        {
            mayPass = _gate.MayPass(message);
        }
        catch (Exception exception) when (exception is not OutOfMemoryException)
        {
            // What escapes here counts as taken, so the message is not lost only if it is held.
            if (!TryHold(message, run))
            {
                return false;
            }

            PumpAfterFault();
            throw;
        }

        return mayPass ? TryPass(message, run: null) : TryHold(message, run);
    }

    public void OnGap(in TopicGap gap)
    {
        if (RunBefore(gap.Sender) is { } run)
        {
            run.Add(gap, _arrivedView);
        }
        else
        {
            Pass(gap);
        }
    }

    public void OnStable(NodeKey sender, long through)
    {
        try
        {
            _gate.OnStable(sender, through);
        }
        finally
        {
            if (RunBefore(sender) is { } run)
            {
                run.AddStable(through, _arrivedView);
            }
            else
            {
                _sink.OnStable(sender, through);
            }

            PumpSoon();
        }
    }

    public void OnView(MemberView view)
    {
        _arrivedView++;
        (_views ??= new Queue<MemberView>()).Enqueue(view);
        try
        {
            _gate.OnViewEnding(view);
        }
        finally
        {
            // All that comes from now on waits for the view.
            Pump();
        }
    }

    public void OnFlush(IFlushBarrier barrier) => _sink.OnFlush(barrier);

    /// <summary>Passes what may be passed. The protocol calls it when the gate may have changed its mind.</summary>
    public void Pump()
    {
        if (_isPumping || _isClosed)
        {
            return;
        }

        _isPumping = true;
        _leftOfTurn = MostPerTurn;
        bool isWhole = false;
        bool hadRoom = HasRoomForView;
        try
        {
            while (TryPumpView() && _views is { Count: > 0 } views && TryPassView(views))
            {
            }

            isWhole = true;
        }
        finally
        {
            _isPumping = false;
            if (!isWhole)
            {
                PumpAfterFault();
            }
        }

        if (_leftOfTurn <= 0)
        {
            PumpSoon();
        }

        bool hasPlenty = _isFull && _runs.TrueForAll(run => _budget.HasPlenty(run.Bytes));
        if (hasPlenty || (!hadRoom && HasRoomForView))
        {
            _isFull &= !hasPlenty;
            Receiver.Resume();
        }

        CompleteIfEmpty();
    }

    /// <summary>
    /// Passes what may be passed, after the present call. The protocol calls it when the gate may have changed its mind within a call of
    /// this sink.
    /// </summary>
    public void PumpSoon()
    {
        if (!_isPumping && (Held > 0 || _views?.Count > 0) && !_pump.IsPending && !_isClosed)
        {
            _environment.Schedule(_pump, TimeSpan.Zero);
        }
    }

    public void Resume()
    {
        Pump();
        Receiver.Resume();
    }

    public void AwaitLast(long configuration, Action settled, Action completed) => Receiver.AwaitLast(configuration, settled, () =>
    {
        _completed = completed;
        CompleteIfEmpty();
    });

    public IReadOnlyList<UntakenRange> Untaken()
    {
        var ranges = new List<UntakenRange>();
        var behind = Receiver.Untaken();
        foreach (var run in _runs)
        {
            if (run.Untaken() is { } held)
            {
                long last = behind.Where(one => one.Sender == run.Sender).Select(static one => one.Last).DefaultIfEmpty(held.Last).Max();
                ranges.Add(held with { Last = last });
            }
        }

        ranges.AddRange(behind.Where(one => ranges.TrueForAll(held => held.Sender != one.Sender)));
        return ranges;
    }

    public void Close()
    {
        _isClosed = true;
        _environment.Cancel(_pump);
        foreach (var run in _runs)
        {
            run.Clear();
        }

        _runs.Clear();
        Held = 0;
        Receiver.Close();
    }

    // Passes what may be passed of the view that was passed last. Returns whether nothing of it is left.
    private bool TryPumpView()
    {
        bool isAnyPassed = true;
        while (isAnyPassed)
        {
            isAnyPassed = false;
            // Not by an enumerator: what the sink does may bring messages of another sender.
            for (int i = 0; i < _runs.Count; i++)
            {
                var run = _runs[i];
                while (run.Count > 0 && run.View == _passedView)
                {
                    if (_leftOfTurn <= 0)
                    {
                        return false;
                    }

                    if (!TryPassFirst(run, out bool isFull))
                    {
                        if (isFull)
                        {
                            return false;
                        }

                        break;
                    }

                    _leftOfTurn--;
                    isAnyPassed = true;
                }
            }
        }

        // Not by a predicate, which would be an object.
        foreach (var run in _runs)
        {
            if (run.Count > 0 && run.View == _passedView)
            {
                return false;
            }
        }

        return true;
    }

    // A view at which the sink throws counts as passed, unless there is no memory for it.
    private bool TryPassView(Queue<MemberView> views)
    {
        var view = views.Peek();
        bool isTaken = true;
        try
        {
            isTaken = _sink.TryAcceptView(view);
        }
        catch (OutOfMemoryException)
        {
            isTaken = false;
            throw;
        }
        finally
        {
            if (isTaken)
            {
                views.Dequeue();
                _passedView++;
                _gate.OnView(view);
            }
        }

        return isTaken;
    }

    // The reader is asked for room by Resume.
    private bool TryPassFirst(HeldRun run, out bool isFull)
    {
        isFull = false;
        if (run.TryPeekGap(out var gap))
        {
            run.Remove();
            Pass(gap.Value);
            return true;
        }

        if (run.TryPeekStable(out long through))
        {
            run.Remove();
            _sink.OnStable(run.Sender, through);
            return true;
        }

        run.Peek(out var message);
        if (!_gate.MayPass(message))
        {
            return false;
        }

        isFull = !TryPass(message, run);
        return !isFull;
    }

    private bool TryHold(in DeliveredMessage message, HeldRun? run)
    {
        run ??= Add(message.Sender);
        if (!run.TryAdd(message, _arrivedView))
        {
            _isFull = true;
            return false;
        }

        Held++;
        _gate.OnHeld(message);
        return true;
    }

    private void PumpAfterFault()
    {
        _environment.Cancel(_pump);
        _environment.Schedule(_pump, PauseAfterFault);
    }

    private void Pass(in TopicGap gap)
    {
        _gate.OnGap(gap);
        try
        {
            // Before the messages that waited for what is lost.
            _sink.OnGap(gap);
        }
        finally
        {
            PumpSoon();
        }
    }

    // The run is that of a message that waited; null: it did not wait.
    private bool TryPass(in DeliveredMessage message, HeldRun? run)
    {
        _gate.OnPassing(message);
        // A message at which the sink throws counts as taken, unless there is no memory for it.
        bool isTaken = true;
        try
        {
            isTaken = _sink.TryAccept(message);
        }
        catch (OutOfMemoryException)
        {
            // The message comes again.
            isTaken = false;
            _gate.OnRefused(message);
            throw;
        }
        finally
        {
            if (isTaken)
            {
                OnTaken(run);
            }
        }

        if (!isTaken)
        {
            _gate.OnRefused(message);
        }

        return isTaken;
    }

    private void OnTaken(HeldRun? run)
    {
        if (run is not null)
        {
            run.Remove();
            Held--;
            Progress++;
        }

        PumpSoon();
    }

    private void CompleteIfEmpty()
    {
        if (Held == 0 && _completed is { } completed)
        {
            _completed = null;
            completed();
        }
    }

    // Where what comes of the sender must wait, behind its messages or for a view. Null: nothing is before it.
    private HeldRun? RunBefore(NodeKey sender) =>
        Find(sender) is { Count: > 0 } run ? run : _arrivedView != _passedView ? Add(sender) : null;

    private HeldRun? Find(NodeKey sender)
    {
        foreach (var run in _runs)
        {
            if (run.Sender == sender)
            {
                return run;
            }
        }

        return null;
    }

    // Empty runs of senders that may have gone make place.
    private HeldRun Add(NodeKey sender)
    {
        _runs.RemoveAll(run => run.Count == 0 && run.Sender != sender && !_isPumping);
        if (Find(sender) is { } known)
        {
            return known;
        }

        var added = new HeldRun(sender, _topicId, _budget);
        _runs.Add(added);
        return added;
    }
}
