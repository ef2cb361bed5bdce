using System.Reflection;
using Aspire.Hosting;
using Aspire.Hosting.ApplicationModel;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Aspire.Hosting;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Aspire.Tests;

// App hosts whose assembly is that of the tests, which names the program of the service as the targets of the package do.
internal static class AppHost
{
    public static string Known(string key) =>
        typeof(AppHost).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>().Single(one => one.Key == key).Value!;

    public static IDistributedApplicationBuilder ToRun() => Create();

    public static IDistributedApplicationBuilder ToPublish() => Create("--operation", "publish", "--publisher", "manifest");

    /// <summary>Gives the endpoint an address, as the orchestrator does.</summary>
    public static void Allocate(QuickSilverResource resource, int port)
    {
        var endpoint = resource.Annotations.OfType<EndpointAnnotation>().Single();
        endpoint.AllocatedEndpoint = new AllocatedEndpoint(endpoint, "localhost", port, targetPortExpression: "4711");
    }

    /// <summary>The arguments and the environment of a resource, as its process would get them.</summary>
    public static async Task<(string[] Arguments, IReadOnlyDictionary<string, string> Environment)> ProcessOfAsync(
        IDistributedApplicationBuilder builder, IResource resource)
    {
        var result = await ExecutionConfigurationBuilder.Create(resource).WithArgumentsConfig().WithEnvironmentVariablesConfig()
            .BuildAsync(builder.ExecutionContext, NullLogger.Instance, CancellationToken.None).OrFail();
        Assert.Null(result.Exception);
        return ([.. result.Arguments.Select(static one => one.Value)], result.EnvironmentVariables.ToDictionary());
    }

    private static IDistributedApplicationBuilder Create(params string[] args) => DistributedApplication.CreateBuilder(
        new DistributedApplicationOptions
        {
            Args = args,
            AssemblyName = typeof(AppHost).Assembly.GetName().Name,
            DisableDashboard = true,
        });
}
