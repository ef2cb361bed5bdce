using Aspire.Hosting.ApplicationModel;

namespace QuickSilver.Aspire.Hosting;

/// <summary>
/// The membership service of a cluster, as a resource of an Aspire app host. Projects that reference it join the cluster. While the app
/// host runs, the service is a process on this machine. A published application has no process of it: its connection string names the
/// service that <see cref="ServiceParameter"/> gives.
/// </summary>
public sealed class QuickSilverResource : ExecutableResource, IResourceWithConnectionString
{
    internal const string EndpointName = "membership";

    internal QuickSilverResource(string name, string command, string workingDirectory, string cluster, ParameterResource secret)
        : base(name, command, workingDirectory)
    {
        Cluster = cluster;
        SecretParameter = secret;
    }

    /// <summary>The name of the cluster.</summary>
    public string Cluster { get; }

    /// <summary>The key of the secret that all nodes of the cluster share: 32 to 256 bytes in Base64.</summary>
    public ParameterResource SecretParameter { get; }

    /// <summary>
    /// The "host:port" of the service, or those of its servers with commas between, for a published application. Null while the app host
    /// runs the service itself.
    /// </summary>
    public ParameterResource? ServiceParameter { get; internal set; }

    /// <summary>The endpoint at which the service listens while the app host runs it.</summary>
    public EndpointReference MembershipEndpoint =>
        // One that is kept does not notice that the endpoint is allocated later.
        new(this, EndpointName);

    /// <summary>The "host:port" of the service.</summary>
    public ReferenceExpression MembershipServiceExpression => ServiceParameter is { } service
        ? ReferenceExpression.Create($"{service}")
        // The nodes are on the IPv4 loopback interface, and "localhost" may be an address of IPv6.
        : ReferenceExpression.Create(
            $"{MembershipEndpoint.Property(EndpointProperty.IPV4Host)}:{MembershipEndpoint.Property(EndpointProperty.Port)}");

    /// <summary>The text of the secret, in the form that <c>qsm keys secret</c> writes.</summary>
    public ReferenceExpression SecretExpression => ReferenceExpression.Create($"quicksilver-secret:{Name}:{SecretParameter}");

    /// <summary>The connection string, which the package QuickSilver.Aspire reads.</summary>
    public ReferenceExpression ConnectionStringExpression =>
        ReferenceExpression.Create($"Servers={MembershipServiceExpression};Cluster={Cluster};Secret={SecretExpression}");

    IEnumerable<KeyValuePair<string, ReferenceExpression>> IResourceWithConnectionString.GetConnectionProperties() =>
    [
        new("Servers", MembershipServiceExpression),
        new("Cluster", ReferenceExpression.Create($"{Cluster}")),
        new("Secret", SecretExpression),
    ];
}
