using System.Globalization;
using QuickSilver.Groups;

namespace QuickSilver.Seeds.Tests.Groups;

// What one life of one node got in a group, in order.
internal sealed class MemberLog(NodeId self, int node, int life)
{
    private readonly List<ViewLog> _views = [];
    private int _ownLast = -1;

    public NodeId Self => self;

    public IReadOnlyList<ViewLog> Views => _views;

    public int Messages { get; private set; }

    public SubscriptionEnd? End { get; set; }

    /// <summary>The member has left the group by itself.</summary>
    public bool HasLeft { get; set; }

    /// <summary>The number of the last message that it has sent as a member; -1: none.</summary>
    public int Sent { get; set; } = -1;

    /// <summary>Whether it has got all that it has sent.</summary>
    public bool HasOwn => _ownLast >= Sent;

    public ViewLog? Last => _views.Count > 0 ? _views[^1] : null;

    public void Add(in GroupEvent<string> one)
    {
        if (one.IsView)
        {
            _views.Add(new ViewLog(one.View));
            return;
        }

        Assert.NotEmpty(_views);
        Assert.Same(_views[^1].View, one.View);
        Assert.True(one.TryGetMessage(out string? text));
        var message = SentMessage.Parse(one.Sender, text);
        _views[^1].Messages.Add(message);
        _ownLast = message.Sender == self ? message.Number : _ownLast;
        Messages++;
    }

    public void AddGap(GapNotice gap)
    {
        if (Last is { } last)
        {
            last.HasGap = true;
            last.Lacking.Add(gap.Sender);
            last.LacksOfOthers |= gap.Reason != GapReason.SenderLeft;
        }
    }

    public override string ToString() => $"life {life} of node {node} ({self})";
}

internal sealed class ViewLog(GroupView view)
{
    public GroupView View => view;

    public List<SentMessage> Messages { get; } = [];

    /// <summary>A message of this view is missing here: no member that was left had it.</summary>
    public bool HasGap { get; set; }

    /// <summary>The senders of what is missing.</summary>
    public HashSet<NodeId> Lacking { get; } = [];

    /// <summary>One is missing that others may have.</summary>
    public bool LacksOfOthers { get; set; }

    /// <summary>The messages that are in the order of the group.</summary>
    public IEnumerable<SentMessage> Ordered => Messages.Where(static message => message.Order is GroupOrder.Total or GroupOrder.Safe);
}

// A message as its text has it: which of its sender it is, its order, and how many messages its sender had got when it sent it.
internal readonly record struct SentMessage(NodeId Sender, int Number, GroupOrder Order, int After)
{
    public static SentMessage Parse(NodeId sender, string text)
    {
        string[] parts = text.Split('/');
        return new SentMessage(sender, Parse(parts[0]), Enum.Parse<GroupOrder>(parts[1]), Parse(parts[2]));
    }

    public static string TextOf(int number, GroupOrder order, int after, int padding) =>
        string.Create(CultureInfo.InvariantCulture, $"{number}/{order}/{after}/{new string('x', padding)}");

    private static int Parse(string text) => int.Parse(text, CultureInfo.InvariantCulture);
}
