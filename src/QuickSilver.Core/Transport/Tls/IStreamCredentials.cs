namespace QuickSilver.Core.Transport.Tls;

// What a process currently shows to others and whom it trusts.
internal interface IStreamCredentials
{
    /// <summary>As it was read last. From any thread; never waits.</summary>
    TlsCredentials Latest { get; }

    /// <summary>Whether <see cref="Refresh"/> would look at files now. From any thread; never waits.</summary>
    bool IsLookDue => true;

    /// <summary>As <see cref="Latest"/>, after files that have changed were read again. From any thread; waits for files.</summary>
    TlsCredentials Refresh() => Latest;
}

internal sealed class FixedCredentials(TlsCredentials credentials) : IStreamCredentials
{
    public TlsCredentials Latest { get; } = credentials;

    public bool IsLookDue => false;
}
