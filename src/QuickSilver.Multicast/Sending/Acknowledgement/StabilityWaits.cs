namespace QuickSilver.Multicast.Sending.Acknowledgement;

// Callers that wait until everything that some streams had accepted at that time is acknowledged.
internal sealed class StabilityWaits
{
    private readonly List<(List<(ISentStream Sender, long Last)> Streams, Action Callback)> _waits = [];

    public void Add(IReadOnlyList<ISentStream> streams, Action callback)
    {
        _waits.Add(([.. from stream in streams where !stream.IsSettled select (stream, stream.Last)], callback));
    }

    public void Serve()
    {
        for (int i = 0; i < _waits.Count; i++)
        {
            var (streams, callback) = _waits[i];
            streams.RemoveAll(wait => wait.Sender.Acknowledged >= wait.Last);
            if (streams.Count == 0)
            {
                _waits.RemoveAt(i--);
                callback();
            }
        }
    }
}
