using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;

namespace QuickSilver.States.Joining;

internal enum StateAskEnd
{
    /// <summary>It has not ended yet.</summary>
    None,
    Gave,
    Busy,
    Silent,
    /// <summary>What it gave is malformed.</summary>
    Unreadable,
    /// <summary>A codec of this node could not decode all that it gave.</summary>
    Undecodable,
    /// <summary>This node had no memory for what it gave.</summary>
    NoMemory,
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
    // Where a value came from that this node cannot decode.
    private NodeId? _undecodable;
    // Whether this node had no memory for what the last one gave.
    private bool _isShort;
    private bool _isNamed;
    private bool _isLogged;
    private bool _isChanged;
    private volatile string _text = Begun(name);

    /// <summary>From any thread: what is missing, in sentences.</summary>
    public string Text => _text;

    /// <summary>Begins or continues to need the content of others.</summary>
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
        int at = _last.FindIndex(one => one.Node == node);
        // What came of the request before is known until this one ends.
        var end = at >= 0 ? _last[at].End : StateAskEnd.None;
        if (at >= 0 || _last.Count == MostNamed)
        {
            _last.RemoveAt(Math.Max(at, 0));
        }

        _last.Add((node, end));
    }

    public void OnEnded(NodeId node, StateAskEnd end)
    {
        _isShort = end == StateAskEnd.NoMemory;
        int at = _last.FindIndex(one => one.Node == node);
        if (at >= 0)
        {
            _last[at] = (node, end);
        }
    }

    /// <summary>This node cannot decode a value.</summary>
    /// <param name="from">The node that set it or sent it.</param>
    public void OnUndecodable(NodeId from)
    {
        _since ??= core.Environment.Now;
        _undecodable = from;
        Write();
    }

    /// <summary>Names it, if it is time: at once if the cause is known to be in this node.</summary>
    public void Look()
    {
        if (_since is not { } since)
        {
            return;
        }

        var time = core.Environment.Now - since;
        bool isLong = time >= NamedAfter;
        bool isDue = isLong || _undecodable is not null || _isShort;
        if (!isDue || (!_isChanged && (_isLogged || !isLong)))
        {
            return;
        }

        _isChanged = false;
        _isNamed = true;
        var (kind, waitsFor) = _isShort ? (TroubleKind.HeapFull, "memory of the heap")
            : _undecodable is not null ? (TroubleKind.StateUndecodable, "a value that this node can decode")
            : (TroubleKind.StateOpening, _waitsFor);
        core.Troubles.Begin(this, new Trouble(kind, _text, core.Environment.UtcNow - time, waitsFor));
        if (isLong && !_isLogged)
        {
            _isLogged = true;
            ApiLog.StateNotComplete(core.Log, _text, time.TotalSeconds);
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
        _isLogged = false;
        _undecodable = null;
        _isShort = false;
        _since = null;
        _asks = 0;
        _last.Clear();
    }

    private void Write()
    {
        _isChanged = true;
        string text = Begun(name);
        if (_undecodable is { } from)
        {
            text += $" This node cannot decode a value from node {core.Named(from)}.";
        }

        if (_asks > 0)
        {
            var named = _last.Select(one => $"node {core.Named(one.Node)} {Describe(one.End)}");
            text += $" {Counted.Of(_asks, "request")} to other nodes so far, the last of them: {string.Join("; ", named)}.";
        }

        _text = text;
    }

    private static string Begun(string name) => $"State \"{name}\" does not have the content that other nodes have.";

    private static string Describe(StateAskEnd end) => end switch
    {
        StateAskEnd.None => "has not given all yet",
        StateAskEnd.Gave => "gave what it has",
        StateAskEnd.Busy => "gives to others",
        StateAskEnd.Unreadable => "gave what cannot be read",
        StateAskEnd.Undecodable => "gave what this node cannot decode",
        StateAskEnd.NoMemory => "gave what the heap of this process has no memory for",
        StateAskEnd.Incomplete => "gave less than it announced",
        StateAskEnd.Endless => "did not end in time",
        StateAskEnd.Left => "left",
        _ => "gave nothing new for 3 s",
    };
}
