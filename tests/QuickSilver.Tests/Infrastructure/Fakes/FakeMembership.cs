using System.Collections.Immutable;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Views;

namespace QuickSilver.Tests.Infrastructure.Fakes;

// A service that grants what it is asked, at once and with a view, unless the test says otherwise.
internal sealed class FakeMembership : IMembership
{
    private readonly Dictionary<ulong, TopicView> _views = [];
    private long _configuration;

    public IMembershipObserver? Observer { get; set; }

    public List<TopicRequest> Requests { get; } = [];

    public List<ulong> Closed { get; } = [];

    public Func<TopicRequest, string?>? Refuse { get; set; }

    /// <summary>Grants wait until the test answers them.</summary>
    public bool HoldsAnswers { get; set; }

    public bool HoldsViews { get; set; }

    public bool AnswersLeave { get; set; } = true;

    public bool HasLeft { get; private set; }

    /// <summary>Whether what the node has said is applied only when the test says so.</summary>
    public bool HoldsApplied { get; set; }

    public Queue<Action<long>> Applied { get; } = new();

    public Queue<Action> Answers { get; } = new();

    public NodeKey Self { get; } = new(0x51, 7);

    public bool IsReachable { get; set; } = true;

    public NodeRoster Roster { get; } = new SharedViews().NoNodes;

    /// <summary>Followers get nothing, unless the test gives another.</summary>
    public TopicFollows Follows { get; set; } = new(static _ => { });

    public void Open(TopicRequest request, Action<TopicOutcome> completed)
    {
        Requests.Add(request);
        Answers.Enqueue(() => Answer(request, completed));
        if (!HoldsAnswers)
        {
            Answers.Dequeue()();
        }
    }

    public void Close(ulong topicId) => Closed.Add(topicId);

    public void WhenApplied(Action<long> callback)
    {
        Applied.Enqueue(callback);
        if (!HoldsApplied)
        {
            Applied.Dequeue()(0);
        }
    }

    public void Confirm(long configuration, ImmutableArray<OpenView> open)
    {
    }

    public void ReportSuspect(NodeKey node, string reason)
    {
    }

    public void GiveUp(string reason) => Observer?.OnGaveUp(reason);

    public void Leave(Action completed)
    {
        HasLeft = true;
        if (AnswersLeave)
        {
            completed();
        }
    }

    public TopicView? ViewOf(ulong topicId) => _views.GetValueOrDefault(topicId);

    public void PublishView(ulong topicId, int subscribers, bool subscribed)
    {
        var view = new TopicView
        {
            TopicId = topicId,
            Configuration = ++_configuration,
            Regions = [],
            Subscribed = subscribed,
            Routed = true,
            Subscribers = subscribers,
        };
        _views[topicId] = view;
        Observer!.OnConfiguration(new ConfigurationChange { Number = _configuration, IsSnapshot = false, Topics = [view] });
    }

    private void Answer(TopicRequest request, Action<TopicOutcome> completed)
    {
        string? refusal = Refuse?.Invoke(request);
        completed(new TopicOutcome(refusal));
        if (refusal is null && !HoldsViews)
        {
            bool subscribed = (request.Role & TopicRole.Subscribe) != 0;
            PublishView(request.TopicId, subscribed ? 1 : 0, subscribed);
        }
    }
}
