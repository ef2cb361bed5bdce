using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;

namespace QuickSilver.States;

internal enum StateAskEnd
{
    /// <summary>It has not ended yet.</summary>
    None,
    Gave,
    Busy,
    Silent,
    Unreadable,
    Incomplete,
    Endless,
    Left,
}

// Whom a node asked for the content of a state, and what came of it: for the status, the log and the exception of an opening that ends.
// The core thread writes it, and any thread may read the text.
internal sealed class StateAsks(IEndpointNode core, string name)
{
    /// <summary>The status and the log name a state that is not complete after this time.</summary>
    public static readonly TimeSpan NamedAfter = TimeSpan.FromSeconds(5);
    // More would not be read.
    private const int MostNamed = 4;

    // The last one is the newest.
    private readonly List<(NodeId Node, StateAskEnd End)> _last = [];
    private int _asks;
    private string? _waitsFor;
    private TimeSpan? _since;
    private bool _isNamed;
    private bool _isChanged;
    private volatile string _text = Begun(name);

    /// <summary>From any thread: what is missing, in sentences.</summary>
    public string Text => _text;

    /// <summary>Begins or goes on to need the content of others.</summary>
    /// <param name="waitsFor">Whom or what the node waits for now.</param>
    public void OnWaits(string? waitsFor)
    {
        _since ??= core.Environment.Now;
        _waitsFor = waitsFor;
        Write();
    }

    public void OnAsked(NodeId node)
    {
        _asks++;
        _last.RemoveAll(one => one.Node == node);
        if (_last.Count == MostNamed)
        {
            _last.RemoveAt(0);
        }

        _last.Add((node, StateAskEnd.None));
    }

    public void OnEnded(NodeId node, StateAskEnd end)
    {
        int at = _last.FindIndex(one => one.Node == node);
        if (at >= 0)
        {
            _last[at] = (node, end);
        }
    }

    /// <summary>Names it, if it is time.</summary>
    public void Look()
    {
        if (_since is not { } since || core.Environment.Now - since < NamedAfter || !_isChanged)
        {
            return;
        }

        _isChanged = false;
        var time = core.Environment.Now - since;
        core.Troubles.Begin(this, new Trouble(TroubleKind.StateOpening, _text, core.Environment.UtcNow - time, _waitsFor));
        if (!_isNamed)
        {
            _isNamed = true;
            ApiLog.StateNotComplete(core.Log, _text, time);
        }
    }

    /// <summary>The node has the content, or does not need it any more.</summary>
    public void Close()
    {
        if (_isNamed)
        {
            core.Troubles.End(this);
        }

        _isNamed = false;
        _since = null;
        _asks = 0;
        _last.Clear();
    }

    private void Write()
    {
        string text = Begun(name);
        if (_asks > 0)
        {
            var named = _last.Select(one => $"node {core.Named(one.Node)} {Describe(one.End)}");
            text += $" {Counted.Of(_asks, "request")} to other nodes so far, the last of them: {string.Join("; ", named)}.";
        }

        _text = text;
        _isChanged = true;
    }

    private static string Begun(string name) => $"State \"{name}\" does not have the content that other nodes have.";

    private static string Describe(StateAskEnd end) => end switch
    {
        StateAskEnd.None => "has not given all yet",
        StateAskEnd.Gave => "gave what it has",
        StateAskEnd.Busy => "gives to others",
        StateAskEnd.Unreadable => "gave what cannot be read",
        StateAskEnd.Incomplete => "gave less than it announced",
        StateAskEnd.Endless => "did not end in time",
        StateAskEnd.Left => "left",
        _ => "gave nothing new for 3 s",
    };
}
