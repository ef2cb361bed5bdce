using System.Net;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Service.Sessions;

namespace QuickSilver.Membership.Service.Watching;

// The slots of observers of the cluster: a limited number at a time, and a part of them for one address.
//
// Intuition: an observer that was suspended, or is on a machine that is gone, neither asks nor ends, and keeps a place that another one
// needs. So one that has not asked for a while gives way, to an observer that comes and finds no place. What goes wrong: an observer may
// ask at longer intervals than that. It keeps its place until another observer needs one.
internal sealed class ObserverSlots(SessionContext context)
{
    // In the order of coming.
    private readonly List<Place> _taken = [];

    public int Count => _taken.Count;

    public bool Has(ControlSession session) => Find(session) is not null;

    public void Take(ControlSession session) => _taken.Add(new Place(session) { AskedAt = context.Environment.Now });

    public void OnAsked(ControlSession session)
    {
        if (Find(session) is { } place)
        {
            place.AskedAt = context.Environment.Now;
        }
    }

    public void Remove(ControlSession session) => _taken.RemoveAll(place => place.Session == session);

    /// <summary>If there is no slot, an observer that has not asked for a while gives way to the newcomer.</summary>
    /// <param name="newcomer">The observer that needs a slot.</param>
    /// <param name="isAnswered">Whether an observer waits for no answer.</param>
    public void MakeRoomFor(ControlSession newcomer, Func<ControlSession, bool> isAnswered)
    {
        bool isAddressFull = IsAddressFull(newcomer);
        if (!isAddressFull && _taken.Count < context.Limits.MaxObservers)
        {
            return;
        }

        var idle = _taken
            .Where(place => context.Environment.Now - place.AskedAt >= context.Limits.ObserverGivesWay && isAnswered(place.Session))
            .Where(place => !isAddressFull || Equals(place.Address, newcomer.RemoteEndPoint?.Address))
            .MinBy(static place => place.AskedAt);
        if (idle is not null)
        {
            Close(idle, newcomer);
        }
    }

    /// <summary>Why there is no place, and which addresses have them, in sentences; null: there is one.</summary>
    public string? FullFor(ControlSession newcomer) =>
        IsAddressFull(newcomer)
            ? $"This membership service already has {context.Limits.MaxObserversPerAddress} observers at "
                + $"{newcomer.RemoteEndPoint?.Address}, which is its limit for one address. Stop another one first."
            : _taken.Count < context.Limits.MaxObservers
                ? null
                : $"This membership service already has {_taken.Count} observers, which is its limit: {Holders()}. Stop another one first.";

    // The last message is read when the observer continues.
    private void Close(Place idle, ControlSession newcomer)
    {
        double seconds = (context.Environment.Now - idle.AskedAt).TotalSeconds;
        string reason = $"it has taken nothing for {seconds:0} s, and the observer at {newcomer.RemoteEndPoint} needs its place";
        context.Logger.SessionClosed(idle.Session.RemoteEndPoint, reason);
        _taken.Remove(idle);
        idle.Session.SayLast(ReasonMessage.Refused($"This observer was closed: {reason}."));
    }

    private bool IsAddressFull(ControlSession newcomer) => newcomer.RemoteEndPoint?.Address is { } address
        && _taken.Count(place => address.Equals(place.Address)) >= context.Limits.MaxObserversPerAddress;

    private string Holders() => string.Join(", ", _taken
        .CountBy(static place => place.Address?.ToString() ?? "an unknown address")
        .OrderByDescending(static of => of.Value)
        .Select(static of => $"{of.Value} at {of.Key}"));

    private Place? Find(ControlSession session) => _taken.Find(place => place.Session == session);

    private sealed class Place(ControlSession session)
    {
        public ControlSession Session { get; } = session;

        public IPAddress? Address { get; } = session.RemoteEndPoint?.Address;

        public TimeSpan AskedAt { get; set; }
    }
}
