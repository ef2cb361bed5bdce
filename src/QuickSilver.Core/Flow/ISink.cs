namespace QuickSilver.Core.Flow;

// Where feeds send to. Sinks form trees: an inner sink is itself a feed of the next, and the root writes to a socket.
// All of it on the core thread.
internal interface ISink
{
    /// <summary>The feed has something to send. Does nothing when it is in line here already.</summary>
    void Register(IFeed feed);

    /// <summary>The feed has nothing to send after all, or closes. Does nothing when it is not in line here.</summary>
    void Withdraw(IFeed feed);
}
