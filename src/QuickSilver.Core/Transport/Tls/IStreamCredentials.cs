namespace QuickSilver.Core.Transport.Tls;

// What a process shows to others and whom it believes, as it is now.
internal interface IStreamCredentials
{
    /// <summary>As it was read last. From any thread; never waits.</summary>
    TlsCredentials Latest { get; }

    /// <summary>As <see cref="Latest"/>, after files that have changed were read anew. From any thread; waits for files.</summary>
    TlsCredentials Refresh() => Latest;
}

internal sealed class FixedCredentials(TlsCredentials credentials) : IStreamCredentials
{
    public TlsCredentials Latest { get; } = credentials;
}
