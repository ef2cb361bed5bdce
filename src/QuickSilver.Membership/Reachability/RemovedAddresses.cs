using System.Net;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Reachability;

// The addresses from which nodes were removed because no datagrams passed. A node that joins from one of them first proves that datagrams
// pass. By address, since a node that starts again has another name and another port. Bounded: the address without an event for the longest
// time is forgotten.
internal sealed class RemovedAddresses
{
    private const int MaxRecords = 1024;
    private const int MaxUnmet = 3;
    // Together well below the time that a node has to join.
    private const int MaxRounds = 4;
    private static readonly TimeSpan Memory = TimeSpan.FromMinutes(10);

    private readonly Dictionary<IPAddress, Record> _records = [];

    public sealed class Record
    {
        // How often nodes of this address were removed.
        public int Removals { get; set; }
        public TimeSpan LastAt { get; set; }
        // The members that the last removed node had not met. The next one must meet them before it is admitted.
        public IReadOnlyList<NodeKey> Unmet { get; set; } = [];
        // Refusals of this address were logged.
        public bool IsLogged { get; set; }

        /// <summary>Rounds that must succeed one after the other: more each time.</summary>
        public int Rounds => Math.Min(MaxRounds, 1 << Math.Min(Removals - 1, 8));
    }

    public void Add(IPAddress address, IReadOnlyList<NodeKey> unmet, TimeSpan now)
    {
        if (Find(address, now) is not { } record)
        {
            if (_records.Count >= MaxRecords)
            {
                _records.Remove(_records.MinBy(pair => pair.Value.LastAt).Key);
            }

            _records[address] = record = new Record();
        }

        record.Removals++;
        record.LastAt = now;
        record.Unmet = [.. unmet.Take(MaxUnmet)];
        record.IsLogged = false;
    }

    public Record? Find(IPAddress address, TimeSpan now)
    {
        if (!_records.TryGetValue(address, out var record))
        {
            return null;
        }

        if (now - record.LastAt <= Memory)
        {
            return record;
        }

        _records.Remove(address);
        return null;
    }
}
