using System.Net;
using System.Net.Sockets;
using System.Text.RegularExpressions;
using Aspire.Hosting;
using Aspire.Hosting.ApplicationModel;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Aspire.Tests;

public sealed partial class ResourceTests
{
    [Fact]
    public async Task The_service_gets_its_port_and_cluster_as_arguments_and_the_secret_in_its_environment()
    {
        var builder = AppHost.ToRun();
        var bus = builder.AddQuickSilver("bus").Resource;
        AppHost.Allocate(bus, 7123);

        var (arguments, variables) = await AppHost.ProcessOfAsync(builder, bus);
        Assert.Equal("dotnet", bus.Command);
        Assert.Equal(
            [AppHost.Known("quicksilverservicepath"), "gms", "--listen", "127.0.0.1:4711", "--cluster", bus.Cluster, "--verbose"],
            arguments);
        Assert.Matches("^bus-[0-9a-f]{8}$", bus.Cluster);
        string secret = variables["QS_SECRET"];
        byte[] key = Convert.FromBase64String(SecretText().Match(secret).Groups[1].Value);
        Assert.InRange(key.Length, 32, 256);
        Assert.DoesNotContain(arguments, one => one.Contains(secret, StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_project_that_references_the_cluster_gets_its_address_its_name_and_its_secret()
    {
        var builder = AppHost.ToRun();
        var bus = builder.AddQuickSilver("bus", cluster: "trading");
        AppHost.Allocate(bus.Resource, 7123);
        var shop = builder.AddExecutable("shop", "dotnet", ".").WithReference(bus);

        var (_, environment) = await AppHost.ProcessOfAsync(builder, shop.Resource);
        string secret = (await bus.Resource.SecretExpression.GetValueAsync(default))!;
        Assert.Equal($"Servers=127.0.0.1:7123;Cluster=trading;Secret={secret}", environment["ConnectionStrings__bus"]);
        Assert.Equal("127.0.0.1:7123", environment["BUS_SERVERS"]);
        Assert.Equal("trading", environment["BUS_CLUSTER"]);
        Assert.Equal(secret, environment["BUS_SECRET"]);
    }

    [Fact]
    public void The_secret_is_a_secret_parameter_of_the_app_host()
    {
        var builder = AppHost.ToRun();
        var own = builder.AddParameter("own", secret: true);
        Assert.True(builder.AddQuickSilver("bus").Resource.SecretParameter is { Name: "bus-secret", Secret: true });
        Assert.Same(own.Resource, builder.AddQuickSilver("other", own).Resource.SecretParameter);
    }

    [Fact]
    public void Clusters_of_two_runs_have_different_names() => Assert.NotEqual(
        AppHost.ToRun().AddQuickSilver("bus").Resource.Cluster, AppHost.ToRun().AddQuickSilver("bus").Resource.Cluster);

    [Fact]
    public async Task A_published_application_takes_the_address_and_the_secret_from_parameters()
    {
        var builder = AppHost.ToPublish();
        var bus = builder.AddQuickSilver("bus");
        var shop = builder.AddExecutable("shop", "dotnet", ".").WithReference(bus);

        const string Expression = "Servers={bus-service.value};Cluster=bus;Secret=quicksilver-secret:bus:{bus-secret.value}";
        Assert.Equal(Expression, bus.Resource.ConnectionStringExpression.ValueExpression);
        Assert.Equal("bus-service", bus.Resource.ServiceParameter!.Name);
        Assert.Empty(bus.Resource.Annotations.OfType<EndpointAnnotation>());
        var (_, environment) = await AppHost.ProcessOfAsync(builder, shop.Resource);
        Assert.Equal("{bus.connectionString}", environment["ConnectionStrings__bus"]);
    }

    [Theory]
    [InlineData("")]
    [InlineData("a;Secret=b")]
    public void A_name_of_a_cluster_that_a_connection_string_cannot_carry_is_refused(string cluster) =>
        Assert.Throws<ArgumentException>("cluster", () => AppHost.ToRun().AddQuickSilver("bus", cluster: cluster));

    [Fact]
    public async Task The_health_check_of_the_resource_wants_a_connection_that_stays_open()
    {
        var builder = AppHost.ToRun();
        var bus = builder.AddQuickSilver("bus");
        var annotation = Assert.Single(bus.Resource.Annotations.OfType<HealthCheckAnnotation>());
        using var services = builder.Services.BuildServiceProvider();
        var checks = services.GetRequiredService<HealthCheckService>();
        Assert.Equal(HealthStatus.Unhealthy, await CheckAsync());

        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        AppHost.Allocate(bus.Resource, ((IPEndPoint)listener.LocalEndpoint).Port);
        Assert.Equal(HealthStatus.Healthy, await CheckAsync());

        var checking = CheckAsync();
        (await listener.AcceptTcpClientAsync().OrFail()).Dispose();
        (await listener.AcceptTcpClientAsync().OrFail()).Dispose();
        Assert.Equal(HealthStatus.Unhealthy, await checking.OrFail());
        listener.Stop();
        Assert.Equal(HealthStatus.Unhealthy, await CheckAsync());

        async Task<HealthStatus> CheckAsync() => (await checks.CheckHealthAsync(one => one.Name == annotation.Key)).Status;
    }

    [GeneratedRegex("^quicksilver-secret:bus:([A-Za-z0-9]{44})$")]
    private static partial Regex SecretText();
}
