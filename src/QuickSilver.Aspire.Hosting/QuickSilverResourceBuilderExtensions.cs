using System.Reflection;
using System.Security.Cryptography;
using Aspire.Hosting.ApplicationModel;
using Aspire.Hosting.Publishing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using QuickSilver.Aspire.Hosting;

namespace Aspire.Hosting;

/// <summary>Adds clusters of QuickSilver to an Aspire app host.</summary>
public static class QuickSilverResourceBuilderExtensions
{
    private const string ProgramKey = "quicksilverservicepath";
    // 44 letters and digits are 33 bytes in Base64, with 262 random bits.
    private const int KeyCharacters = 44;

    /// <summary>
    /// Adds the membership service of a cluster. While the app host runs, the service is a process on this machine, which listens on the
    /// loopback interface and has a health check. Projects that reference the resource with <c>WithReference</c> get its address, the name
    /// of the cluster and the secret in a connection string, which the package QuickSilver.Aspire reads. In a published application, the
    /// address is the value of a parameter with the name of the resource and the suffix "-service": a service that runs outside.
    /// </summary>
    /// <param name="builder">The builder of the app host.</param>
    /// <param name="name">The name of the resource, and of the connection string.</param>
    /// <param name="secret">
    /// The key of the secret of the cluster: 32 to 256 bytes in Base64. Null (default): a parameter with the name of the resource and the
    /// suffix "-secret", for which a value is generated.
    /// </param>
    /// <param name="port">The port of the service: 1 to 65,535. Null (default): a free one.</param>
    /// <param name="cluster">
    /// The name of the cluster: 1 to 64 characters without a semicolon. Null (default): the name of the resource. While the app host runs,
    /// a random suffix keeps the clusters of several app hosts on one machine apart.
    /// </param>
    /// <returns>The builder of the resource.</returns>
    /// <exception cref="ArgumentException">The name of the cluster is invalid.</exception>
    public static IResourceBuilder<QuickSilverResource> AddQuickSilver(
        this IDistributedApplicationBuilder builder,
        [ResourceName] string name,
        IResourceBuilder<ParameterResource>? secret = null,
        int? port = null,
        string? cluster = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentException.ThrowIfNullOrEmpty(name);
        CheckCluster(cluster);
        bool runs = builder.ExecutionContext.IsRunMode;
        var key = secret?.Resource ?? ParameterResourceBuilderExtensions.CreateGeneratedParameter(
            builder, $"{name}-secret", secret: true, new GenerateParameterDefault { MinLength = KeyCharacters, Special = false });
        string? program = ProgramOf(builder);
        var resource = new QuickSilverResource(
            name,
            program is null ? "qsm" : "dotnet",
            builder.AppHostDirectory,
            cluster ?? (runs ? $"{name}-{RandomNumberGenerator.GetHexString(8, lowercase: true)}" : name),
            key);
        return runs ? AddService(builder, resource, program, port) : AddPublished(builder, resource);
    }

    private static IResourceBuilder<QuickSilverResource> AddService(
        IDistributedApplicationBuilder builder, QuickSilverResource resource, string? program, int? port)
    {
        string check = $"{resource.Name}_check";
        builder.Services.AddHealthChecks().Add(
            new HealthCheckRegistration(check, _ => new ServiceHealthCheck(resource), failureStatus: null, tags: null));
        return builder.AddResource(resource)
            .WithEndpoint(port: port, scheme: "tcp", name: QuickSilverResource.EndpointName)
            .WithArgs(context =>
            {
                if (program is not null)
                {
                    context.Args.Add(program);
                }

                context.Args.Add("gms");
                context.Args.Add("--listen");
                context.Args.Add(ReferenceExpression.Create(
                    $"127.0.0.1:{resource.MembershipEndpoint.Property(EndpointProperty.TargetPort)}"));
                context.Args.Add("--cluster");
                context.Args.Add(resource.Cluster);
                context.Args.Add("--verbose");
            })
            // Not an argument: everyone on the machine can read command lines.
            .WithEnvironment("QS_SECRET", resource.SecretExpression)
            .WithHealthCheck(check)
            .ExcludeFromManifest();
    }

    // The connection string is all that a published application has of it.
    private static IResourceBuilder<QuickSilverResource> AddPublished(IDistributedApplicationBuilder builder, QuickSilverResource resource)
    {
        resource.ServiceParameter = builder.AddParameter($"{resource.Name}-service").Resource;
        return builder.AddResource(resource).WithManifestPublishingCallback((ManifestPublishingContext context) =>
        {
            string expression = resource.ConnectionStringExpression.ValueExpression;
            context.Writer.WriteString("type", "parameter.v0");
            context.Writer.WriteString("connectionString", expression);
            context.Writer.WriteString("value", expression);
        });
    }

    // Of the package, which its targets name in the app host; null: the tool of the machine.
    private static string? ProgramOf(IDistributedApplicationBuilder builder) =>
        builder.AppHostAssembly?.GetCustomAttributes<AssemblyMetadataAttribute>()
            .FirstOrDefault(static one => one.Key == ProgramKey)?.Value;

    private static void CheckCluster(string? cluster)
    {
        if (cluster is not null && (cluster.Length is < 1 or > 64 || cluster.Contains(';')))
        {
            throw new ArgumentException(
                $"\"{cluster}\" cannot be the name of a cluster. Use 1 to 64 characters without a semicolon.", nameof(cluster));
        }
    }
}
