using System.Globalization;
using System.IO.Pipelines;
using System.Text;
using QuickSilver.Groups;
using QuickSilver.Simulation;

namespace QuickSilver.Seeds.Tests.Groups;

// What one life of one node has as the state of a group: the views, the messages that are in the order of the group, and those of each
// sender that are not. It is written and read as lines of text. Calls of some lives take time.
internal sealed class ListState(SimulatedNode node, TimeSpan pause) : IGroupHandler<string>
{
    private readonly List<string> _ordered = [];
    private readonly SortedDictionary<string, List<string>> _bySender = new(StringComparer.Ordinal);
    private readonly string _self = node.Node.Id.ToString();
    private string? _text;
    private bool _isBusy;

    public GroupView? View { get; private set; }

    public bool HasGap { get; private set; }

    /// <summary>How many states it has read, and how many messages it has got as events.</summary>
    public int Reads { get; private set; }

    public int Messages { get; private set; }

    public SubscriptionEnd? End { get; private set; }

    /// <summary>The member has got a state, or is the one that began with its own.</summary>
    public bool IsOpened { get; set; }

    /// <summary>The number of the last message that it has sent and that must not be lost; -1: none.</summary>
    public int Sent { get; set; } = -1;

    /// <summary>Whether the content has what it has sent.</summary>
    public bool HasOwn => Sent < 0 || Text.Contains($" {_self} {Sent}/", StringComparison.Ordinal);

    /// <summary>The number of lines of the content.</summary>
    public int Lines { get; private set; }

    /// <summary>The content as text.</summary>
    public string Text => _text ??=
        string.Concat(_ordered.Select(static line => $"= {line}\n"))
        + string.Concat(_bySender.SelectMany(static one => one.Value.Select(line => $"{one.Key} {line}\n")));

    public async ValueTask OnEventAsync(GroupEvent<string> one, CancellationToken cancellationToken)
    {
        Enter();
        await PauseAsync(cancellationToken);
        (_text, Lines) = (null, Lines + 1);
        if (one.TryGetMessage(out string? text))
        {
            Assert.Same(View, one.View);
            Messages++;
            var message = SentMessage.Parse(one.Sender, text);
            string line = string.Create(CultureInfo.InvariantCulture, $"{one.View.Number} {one.Sender} {text}");
            if (message.Order is GroupOrder.Total or GroupOrder.Safe)
            {
                _ordered.Add(line);
            }
            else
            {
                ListOf(one.Sender.ToString()).Add(line);
            }
        }
        else
        {
            Assert.True(View is null || one.View.Number > View.Number);
            View = one.View;
            _ordered.Add(string.Create(CultureInfo.InvariantCulture, $"view {one.View.Number}"));
        }

        _isBusy = false;
    }

    public async ValueTask WriteStateAsync(PipeWriter to, CancellationToken cancellationToken)
    {
        Enter();
        string text = Text;
        await PauseAsync(cancellationToken);
        Assert.Equal(text, Text);
        await to.WriteAsync(Encoding.UTF8.GetBytes(text), cancellationToken);
        _isBusy = false;
    }

    public async ValueTask ReadStateAsync(PipeReader from, GroupView view, CancellationToken cancellationToken)
    {
        Enter();
        using var reader = new StreamReader(from.AsStream());
        string text = await reader.ReadToEndAsync(cancellationToken);
        await PauseAsync(cancellationToken);
        _ordered.Clear();
        _bySender.Clear();
        (_text, Lines) = (null, 0);
        foreach (string line in text.Split('\n', StringSplitOptions.RemoveEmptyEntries))
        {
            Lines++;
            int at = line.IndexOf(' ', StringComparison.Ordinal);
            (line[0] == '=' ? _ordered : ListOf(line[..at])).Add(line[(at + 1)..]);
        }

        View = view;
        Reads++;
        _isBusy = false;
    }

    public void OnGap(GapNotice gap) => HasGap = true;

    public void OnEnded(SubscriptionEnd end) => End = end;

    private List<string> ListOf(string sender) =>
        _bySender.TryGetValue(sender, out var list) ? list : _bySender[sender] = [];

    private void Enter()
    {
        Assert.False(_isBusy, "A call of the handler came beside another one.");
        _isBusy = true;
    }

    private Task PauseAsync(CancellationToken cancellationToken) => pause > TimeSpan.Zero
        ? Task.Delay(2 * node.Random.NextDouble() * pause, node.Time, cancellationToken)
        : Task.CompletedTask;
}
