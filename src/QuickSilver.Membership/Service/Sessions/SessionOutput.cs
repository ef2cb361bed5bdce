using QuickSilver.Core.Transport;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Service.Quotas;

namespace QuickSilver.Membership.Service.Sessions;

// What a session sends, and how much of it the client has not read.
//
// Intuition: a client that does not read makes the service keep what it is sent. A session has a limit of its own, and all sessions
// together have one (KeptBytes). Application: everything that a session sends goes through here, and the owner is notified when a limit is
// exceeded. What goes wrong: nearly always a little waits for a moment, so a few bytes are not counted.
//
// After End, nothing is sent and nothing is counted.
internal sealed class SessionOutput(SessionContext context, IControlStream stream, SessionOutput.IOwner owner)
{
    // So much may wait to be sent without being counted.
    private const int MostUncounted = 4 << 10;

    // Null while little waits to be sent.
    private UnsentFrames? _unsent;
    private bool _isEnded;

    internal interface IOwner
    {
        /// <summary>More waits to be sent than one session may have.</summary>
        void OnUnread();

        /// <summary>All sessions together may have too much that waits.</summary>
        void OnMuchKept();
    }

    /// <summary>The part of what waits that counts for this session.</summary>
    public long Share => _unsent?.Share ?? 0;

    public void Send<T>(in T message)
        where T : IControlMessage
    {
        var buffer = context.Buffer;
        buffer.Clear();
        ControlFrame.Append(buffer, message);
        if (!_isEnded)
        {
            stream.Send(buffer.Written);
            OnGiven(buffer.Length, frames: null);
        }
    }

    /// <summary>Frames that never change, and may be sent to others too.</summary>
    public void SendShared(SharedFrames frames)
    {
        if (!_isEnded && frames.Length > 0)
        {
            stream.SendShared(frames.Bytes);
            OnGiven(frames.Length, frames);
        }
    }

    /// <summary>Bytes that were sent are not kept any more.</summary>
    public void ForgetSent() => ForgetSent(stream.PendingBytes);

    public void End()
    {
        _isEnded = true;
        ForgetUnsent();
    }

    private void OnGiven(int bytes, SharedFrames? frames)
    {
        long unsent = stream.PendingBytes;
        if (unsent > context.Limits.MaxPendingBytes)
        {
            owner.OnUnread();
            return;
        }

        ForgetSent(Math.Max(0, unsent - bytes));
        if (_unsent is null && unsent <= MostUncounted)
        {
            return;
        }

        _unsent ??= new UnsentFrames(context.Kept, Math.Max(0, unsent - bytes));
        if (frames is null)
        {
            _unsent.Add(bytes);
        }
        else
        {
            _unsent.Add(frames);
        }

        if (context.Kept.IsLookDue)
        {
            owner.OnMuchKept();
        }
    }

    private void ForgetSent(long unsent)
    {
        if (_unsent?.Trim(unsent) == false)
        {
            ForgetUnsent();
        }
    }

    private void ForgetUnsent()
    {
        _unsent?.Dispose();
        _unsent = null;
    }
}
