namespace QuickSilver.Core.Sealing;

// How many epochs a node began under keys that it has given up. A key comes back when a node goes to another service and returns before the
// first one has removed it: that one has made no other key meanwhile.
//
// Invariant: an epoch that was begun is never begun again. What is forgotten here is of a key that 1,024 others have followed, within the
// few seconds after which a service removes a node that is gone.
internal sealed class SpentEpochs
{
    private const int Most = 1024;

    private readonly Dictionary<uint, uint> _begun = [];
    private readonly Queue<uint> _order = new();

    public uint Of(SecretKey key) => _begun.GetValueOrDefault(key.Label());

    public void Note(SecretKey key, uint begun)
    {
        if (begun == 0)
        {
            return;
        }

        uint label = key.Label();
        if (!_begun.ContainsKey(label))
        {
            _order.Enqueue(label);
            if (_order.Count > Most)
            {
                _begun.Remove(_order.Dequeue());
            }
        }

        // Two keys may have one label: then the higher number holds for both.
        _begun[label] = Math.Max(begun, _begun.GetValueOrDefault(label));
    }
}
