using QuickSilver.Groups.States;

namespace QuickSilver.Groups.Members;

// What the loop of a member has around it. From any thread.
internal interface IMemberLife
{
    /// <summary>The maximum size of the state in bytes.</summary>
    long MostBytes { get; }

    /// <summary>The maximum number of events that wait for the state.</summary>
    int MostWaiting { get; }

    /// <summary>Cancelled when the member ends.</summary>
    CancellationToken Stop { get; }

    /// <summary>The member has no state, and a new view or a new need.</summary>
    void Seek(StateSearch search);

    /// <summary>The member seeks no state any more.</summary>
    void EndSearch();

    /// <summary>The member has a state.</summary>
    void OnState();
}
