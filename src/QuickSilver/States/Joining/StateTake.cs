using QuickSilver.Endpoints.Changes;
using QuickSilver.Serialization;

namespace QuickSilver.States.Joining;

// What a node that joins, or lost something, takes of others: those that it asks, one after the other, and the pieces of the one that gives
// now. Core thread only.
internal sealed class StateTake<TKey, TValue>(StateTable<TKey, TValue> table, StateEntryBytes<TKey, TValue> bytes)
    where TKey : notnull
{
    // Of what one source gives. Each costs an exception on the core thread.
    private const int MostUndecoded = 64;

    private readonly Queue<NodeId> _sources = [];
    private NodeId _source;
    // The highest stamp that the source gave: it gives in the order of the stamps, so what does not raise it is nothing new.
    private StateStamp _highest;

    /// <summary>Takes an entry of a source. False: it is refused.</summary>
    public required Func<NodeId, StateEntry<TKey, TValue>, bool> Merge { get; init; }

    /// <summary>Called for the first entry of a source that could not be decoded, with the node that had set it.</summary>
    public required Action<Exception, NodeId> FoundUndecodable { get; init; }

    /// <summary>The one that is asked, or was asked last.</summary>
    public NodeId Source => _source;

    public int Taken { get; private set; }

    /// <summary>Those of what is taken that this node could not decode.</summary>
    public int Undecoded { get; private set; }

    public void Begin(ReadOnlySpan<NodeId> sources)
    {
        _sources.Clear();
        foreach (var node in sources)
        {
            _sources.Enqueue(node);
        }
    }

    /// <summary>The next one to ask that is still a member. False: there is none.</summary>
    public bool TryNext(SubscriberSet members)
    {
        while (_sources.TryDequeue(out _source))
        {
            if (members.Contains(_source))
            {
                Taken = 0;
                Undecoded = 0;
                _highest = default;
                return true;
            }
        }

        return false;
    }

    /// <summary>Takes a piece. Returns why nothing more is taken of this source; null: it may continue.</summary>
    public StateAskEnd? Piece(ReadOnlySpan<byte> body, out bool isNew, out Exception? fault)
    {
        isNew = false;
        fault = null;
        try
        {
            while (!body.IsEmpty)
            {
                var frame = StateEntryFrame.Read(ref body);
                Take(frame);
                if (Undecoded >= MostUndecoded)
                {
                    return StateAskEnd.Undecodable;
                }

                Taken++;
                if (frame.Stamp.CompareTo(_highest) > 0)
                {
                    _highest = frame.Stamp;
                    isNew = true;
                }
            }

            return null;
        }
        catch (OutOfMemoryException exception)
        {
            fault = exception;
            return StateAskEnd.NoMemory;
        }
        catch (PayloadFormatException exception)
        {
            fault = exception;
            return StateAskEnd.Unreadable;
        }
    }

    private void Take(in StateEntryFrame frame)
    {
        try
        {
            Merge(_source, bytes.Decode(frame));
        }
        catch (Exception exception) when (exception is not OutOfMemoryException)
        {
            // A codec of the application may throw anything. What this node sets now replaces what it cannot decode.
            table.Clock.See(frame.Stamp.Counter);
            if (Undecoded++ == 0)
            {
                FoundUndecodable(exception, frame.Stamp.Origin);
            }
        }
    }
}
