namespace QuickSilver.Transfers;

// The letters in which content is given to one node, with the number of the box that they are for. Read beside the core thread, one call at
// a time, and disposed on the core thread.
internal interface IBulkLetters : IDisposable
{
    /// <summary>The letter that declines: this node gives to too many others.</summary>
    ReadOnlyMemory<byte> Busy { get; }

    /// <summary>The letter to send. Valid until the next one is made.</summary>
    ReadOnlyMemory<byte> Current { get; }

    /// <summary>Makes the next letter. False: there is none, because all is given or the other node does not take it.</summary>
    ValueTask<bool> MoveNextAsync();

    /// <summary>Core thread: no more of them is given. A wait for the other node ends, so that what they hold can be disposed.</summary>
    void End()
    {
    }
}
