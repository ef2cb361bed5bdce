using System.Net;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Transport.Descriptors;

namespace QuickSilver.Tool.Dashboard;

// The connections of browsers: so many at a time, and of one address a part of them. Thread-safe.
//
// Intuition: a browser without the token can connect, and must not keep those out that have it. So a connection over which none was
// admitted yet gives way when all places are taken: the oldest of the address that has the most. What goes wrong: a browser that has just
// connected gives way too if there are as many addresses as places. It connects again.
internal sealed class DashboardPlaces(int most, int mostOfAddress, Action<string> note)
{
    private readonly Lock _lock = new();
    // The oldest first.
    private readonly List<Place> _taken = [];
    private long _shortages;

    /// <summary>How many come from each address, for a sentence.</summary>
    public static string HoldersOf(IEnumerable<IPAddress> addresses) => string.Join(", ", addresses
        .CountBy(static one => one)
        .OrderByDescending(static of => of.Value)
        .Select(static of => $"{of.Value} from {of.Key}"));

    /// <summary>Takes a place. Another connection may have to give way. False: there is none.</summary>
    /// <param name="id">The connection.</param>
    /// <param name="address">Where it comes from.</param>
    /// <param name="abort">Ends it.</param>
    public bool TryTake(string id, IPAddress address, Action abort)
    {
        Place? displaced = null;
        string? shortage = null;
        lock (_lock)
        {
            int ofAddress = CountOf(address);
            if (ofAddress >= mostOfAddress || _taken.Count >= most)
            {
                shortage = HoldersOf(_taken.Select(static place => place.Address));
                displaced = FindDisplaced(address, ofAddress);
                if (displaced is not null)
                {
                    _taken.Remove(displaced);
                }
            }

            if (shortage is null || displaced is not null)
            {
                _taken.Add(new Place(id, address, abort));
            }
        }

        displaced?.Abort();
        if (shortage is not null && RepeatedEvent.IsLogged(Interlocked.Increment(ref _shortages)))
        {
            string closed = displaced is null
                ? $"A new one from {address} was closed"
                : $"One from {displaced.Address} gave way to a new one";
            note($"The dashboard has room for {most} connections, and {mostOfAddress} of one address: {shortage}. {closed}.");
        }

        return shortage is null || displaced is not null;
    }

    /// <summary>A user was admitted over this connection, so it does not give way any more.</summary>
    public void OnAdmitted(string id)
    {
        lock (_lock)
        {
            if (_taken.Find(place => place.Id == id) is { } place)
            {
                place.IsAdmitted = true;
            }
        }
    }

    public void GiveBack(string id)
    {
        lock (_lock)
        {
            _taken.RemoveAll(place => place.Id == id);
        }
    }

    private Place? FindDisplaced(IPAddress newcomer, int ofNewcomer)
    {
        var strangers = _taken.Where(static place => !place.IsAdmitted);
        var other = ofNewcomer >= mostOfAddress
            ? null
            : GivingWay.Find(strangers.Select(static place => (place.Address, place)), CountOf, ofNewcomer);
        return other ?? strangers.FirstOrDefault(place => place.Address.Equals(newcomer));
    }

    private int CountOf(IPAddress address) => _taken.Count(place => place.Address.Equals(address));

    private sealed class Place(string id, IPAddress address, Action abort)
    {
        public string Id { get; } = id;

        public IPAddress Address { get; } = address;

        public bool IsAdmitted { get; set; }

        public void Abort() => abort();
    }
}
